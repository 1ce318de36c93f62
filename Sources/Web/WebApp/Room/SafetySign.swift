import ClientCore
import Messenger
import PageWidgets

/// Says who can read what is written in a room.
extension Room {
  var safetyName: Strings.Key { isEncrypted ? .endToEnd : .notEncrypted }
  var safetyNote: Strings.Key { isEncrypted ? .endToEndNote : .notEncryptedNote }
  var safetySign: Drawing { isEncrypted ? .lock : .lockOpen }
}

/// A lock with its whole sentence, for panels and settings.
final class SafetyLine<D: DOM> {
  private let dom: D
  private let node: Node
  private var isEncrypted: Bool?

  init(_ dom: D, in parent: Node) {
    self.dom = dom
    node = dom.element("p", "ma-safety", in: parent)
  }

  func update(_ room: Room) {
    // Nothing is written in a space.
    dom.setFlag(node, "hidden", room.isSpace)
    guard room.isEncrypted != isEncrypted else { return }
    isEncrypted = room.isEncrypted
    dom.releaseChildren(of: node)
    room.safetySign.draw(dom, in: node)
    dom.element("span", text: room.safetyNote, in: node)
  }
}
