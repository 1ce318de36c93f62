import EncryptionLink
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import SecurityDialogs

@Suite("Keys of earlier messages")
struct KeyArrivalsTests {
  // Proves E11
  @Test(
    "What came while the user was signed out everywhere is told with how far it is, and why it cannot be read",
    arguments: [
      (EncryptionReport.Dehydrated.none, EncryptionReport.DehydratedFailure?.none, ""),
      (.reading(messages: 0, keys: 0), nil, ""), (.reading(messages: 30, keys: 7), nil, "awayReading"),
      (.ready(keys: 0), nil, "awayReady"), (.ready(keys: 7), nil, "awayRead"), (.ready(keys: 0), .wrongKey, "awayUnreadable"),
      (.ready(keys: 0), .malformed, "awayUnreadable"), (.ready(keys: 0), .unknownFormat, "awayNewer"),
      (.ready(keys: 7), .tooManyMessages, "awayTooMany")
    ])
  func away(device: EncryptionReport.Dehydrated, failure: EncryptionReport.DehydratedFailure?, words: String) {
    let dom = FakeDOM()
    let arrivals = KeyArrivals(dom, in: .root)
    var state = EncryptionReport.State()
    (state.dehydrated, state.dehydratedFailure) = (device, failure)
    arrivals.show(state, isBuilding: false)
    let text = dom[.root].allText
    #expect(words.isEmpty ? text.isEmpty : text.hasPrefix(words), "\(text)")
    arrivals.show(nil, isBuilding: true)
    #expect(dom[.root].allText == "encryptionBuilding")
  }
}
