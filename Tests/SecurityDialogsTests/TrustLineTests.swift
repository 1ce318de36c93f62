import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import ClientHost
@testable import SecurityDialogs

@Suite("What is said of a person's keys")
struct TrustLineTests {
  @Test("Devices of one name have their IDs beside it, and what the server hides is said")
  func devices() throws {
    let dom = FakeDOM()
    let encryption = PageEncryption()
    var sent: [[UInt8]] = []
    encryption.connect = { [unowned encryption] in encryption.send = { sent.append($0) } }
    encryption.follow(
      Session(userID: UserID(trusted: "@ann:one.example"), deviceID: DeviceID(trusted: "DESK"), accessToken: "secret"))
    encryption.begin()
    encryption.heard(EncryptionReport.step(EncryptionReport.Step()).bytes)
    sent = []
    let line = TrustLine(dom, encryption, in: .root) { _, _ in }
    line.warnings = { user, name in [name + " is hidden"] }
    line.show("@bob:one.example", name: "Bob")
    let numbers = sent.compactMap { bytes -> UInt64? in
      guard case .command(let number, .inspect)? = try? EncryptionRequest.read(bytes).request else { return nil }
      return number
    }
    let asked = try #require(numbers.last)
    let devices = [("A", "Chrome on Linux"), ("B", "Chrome on Linux"), ("C", "Phone")].map {
      EncryptionReport.Device(id: ByteString($0.0), name: ByteString($0.1), isSigned: false, isVerified: false)
    }
    var step = EncryptionReport.Step()
    step.deliveries = [.ended(asked, .trust(EncryptionReport.Trust(hasIdentity: true, isVerified: false, devices: devices)))]
    encryption.heard(EncryptionReport.step(step).bytes)
    let said = dom[.root].allText
    #expect(said.contains("Chrome on Linux (A), Chrome on Linux (B), Phone") && said.contains("Bob is hidden"))
  }
}
