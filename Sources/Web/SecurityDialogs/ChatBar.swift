import Messenger
import PageWidgets

/// Where one writes: calm words about what others cannot read yet, and what can be done about it.
package final class ChatBar<D: DOM> {
  package enum Shown: Equatable {
    case nothing
    /// They are invited, and have not accepted yet.
    case notJoined(String)
    /// The chat is not encrypted, and could be by now.
    case canEncrypt(String)
    /// Some who are invited to the room have no device that could read.
    case cannotRead(String)

    package static func == (one: Self, other: Self) -> Bool {
      switch (one, other) {
      case (.nothing, .nothing): true
      case (.notJoined(let name), .notJoined(let other)), (.canEncrypt(let name), .canEncrypt(let other)),
        (.cannotRead(let name), .cannotRead(let other)):
        name.hasSameBytes(as: other)
      default: false
      }
    }
  }

  private let dom: D
  private let node: Node
  private let words: Node
  private let buttons: Node
  private var shown = Shown.nothing
  package var onEncrypt: () -> Void = {}
  package var onPutOff: () -> Void = {}

  package init(_ dom: D, in column: Node, before next: Node) {
    self.dom = dom
    node = dom.element("div", "ma-chat-bar ma-security")
    dom.insert(node, into: column, before: next)
    words = dom.element("span", in: node)
    dom.setAttribute(words, "role", "status")
    buttons = dom.element("span", "ma-security-buttons", in: node)
    dom.setFlag(node, "hidden", true)
  }

  package func show(_ new: Shown) {
    guard new != shown else { return }
    shown = new
    dom.releaseChildren(of: buttons)
    dom.setFlag(node, "hidden", new == .nothing)
    switch new {
    case .nothing: dom.setText(words, "")
    case .notJoined(let name): dom.setText(words, Strings[.notJoinedYet, name])
    case .cannotRead(let names): dom.setText(words, Strings[.cannotReadYet, names])
    case .canEncrypt(let name):
      dom.setText(words, Strings[.canEncryptNow, name])
      add(.turnOnEncryption) { [self] in onEncrypt() }
      add(.notNow) { [self] in onPutOff() }
    }
  }

  private func add(_ words: Strings.Key, _ run: @escaping () -> Void) {
    dom.on(dom.button("ma-button ma-small", words, in: buttons), .click) { [dom] _ in
      run()
      dom.flush()
    }
  }
}
