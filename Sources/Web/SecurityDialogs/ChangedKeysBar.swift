import Messenger
import PageWidgets

/// Where one writes to somebody whose keys have changed: says so, and what can be done. Nothing is sent there until the person has decided.
package final class ChangedKeysBar<D: DOM> {
  package struct Shown: Equatable {
    package let user: String
    package let name: String
    package let wasVerified: Bool

    package init(user: String, name: String, wasVerified: Bool) {
      self.user = user
      self.name = name
      self.wasVerified = wasVerified
    }

    package static func == (one: Self, other: Self) -> Bool {
      one.user.hasSameBytes(as: other.user) && one.name.hasSameBytes(as: other.name) && one.wasVerified == other.wasVerified
    }
  }

  private let dom: D
  private let node: Node
  private let words: Node
  private let buttons: Node
  private var shown: Shown?
  package var onVerify: (Shown) -> Void = { _ in }
  package var onAccept: (Shown) -> Void = { _ in }

  package init(_ dom: D, in column: Node, before next: Node) {
    self.dom = dom
    node = dom.element("div", "ma-banner ma-warning ma-security ma-changed-keys")
    dom.insert(node, into: column, before: next)
    Drawing.shield.draw(dom, in: node)
    words = dom.element("span", in: node)
    dom.setAttribute(words, "role", "status")
    buttons = dom.element("span", "ma-security-buttons", in: node)
    dom.setFlag(node, "hidden", true)
  }

  /// - Parameter new: nil hides it.
  package func show(_ new: Shown?) {
    guard new != shown else { return }
    shown = new
    dom.setFlag(node, "hidden", new == nil)
    dom.releaseChildren(of: buttons)
    dom.setText(words, "")
    guard let new else { return }
    dom.setText(words, Strings[new.wasVerified ? .verifiedKeysChanged : .keysChangedHere, new.name])
    add(Strings[.verifyPerson, new.name]) { [self] in onVerify(new) }
    add(Strings[.goOnAnyway]) { [self] in onAccept(new) }
  }

  private func add(_ words: String, _ run: @escaping () -> Void) {
    dom.on(dom.button("ma-button ma-small", words, in: buttons), .click) { [dom] _ in
      run()
      dom.flush()
    }
  }
}
