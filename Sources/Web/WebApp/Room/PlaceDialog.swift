import ClientCore
import JSON
import Messenger
import PageWidgets
import WebHost

/// Shows the user's location before it is sent.
struct PlaceDialog<D: DOM> {
  /// Returns the degrees and the uncertainty in metres.
  private static func words(_ uri: String) -> String {
    let degrees = String(decoding: uri.utf8.dropFirst(4).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    guard let metres = GeoURI(ByteString(uri))?.uncertainty else { return degrees }
    return degrees + " (± \(Int(min(metres, 1e9))) m)"
  }

  @discardableResult
  init(_ dom: D, in frame: DialogFrame<D>, _ send: @escaping (OutgoingLocation, Bool) -> Void) {
    frame.setTitle(.sendPlace)
    let note = dom.element("p", "ma-note", text: .placeSought, in: frame.body)
    dom.setAttribute(note, "role", "status")
    let asks = dom.element("p", "ma-note ma-asks", text: .askPlace, in: frame.body)
    var isSilent = false
    dom.check(Strings[.sendSilently], isOn: false, in: frame.body) { isSilent = $0 }
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let submit = dom.button("ma-button ma-primary", .send, in: buttons)
    dom.setFlag(submit, "disabled", true)
    dom.on(cancel, .click) { _ in frame.close() }
    Host.locate { position in
      guard frame.isOpen else { return }
      dom.setFlag(asks, "hidden", true)
      switch position {
      case .refused: dom.setText(note, .placeRefused)
      case .unknown: dom.setText(note, .placeUnknown)
      case .found(let uri):
        dom.setText(note, Self.words(uri))
        dom.setFlag(submit, "disabled", false)
        dom.on(submit, .click) { _ in
          frame.close()
          send(OutgoingLocation(geoURI: ByteString(uri), description: ByteString(Strings[.ownPlace])), isSilent)
        }
      }
      dom.flush()
    }
  }
}
