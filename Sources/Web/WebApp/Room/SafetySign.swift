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
  private var shown: String?

  init(_ dom: D, in parent: Node) {
    self.dom = dom
    node = dom.element("p", "ma-safety", in: parent)
  }

  /// - Parameter reader: the other one of the chat, who has no device that could read what is encrypted; nil if that is not known.
  func update(_ room: Room, _ reader: String? = nil) {
    // Nothing is written in a space.
    dom.setFlag(node, "hidden", room.isSpace)
    let words =
      !room.isEncrypted ? reader.map { Strings[.openChatYet, $0] } ?? Strings[room.safetyNote] : Strings[room.safetyNote]
    guard shown.map({ !$0.hasSameBytes(as: words) }) ?? true else { return }
    shown = words
    dom.releaseChildren(of: node)
    room.safetySign.draw(dom, in: node)
    dom.element("span", text: words, in: node)
  }
}
