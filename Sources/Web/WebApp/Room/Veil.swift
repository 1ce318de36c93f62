import Messenger
import PageWidgets

/// Lies over the messages while they are not what the reader shall see yet.
final class Veil<D: DOM> {
  enum Reason { case opening, returning }

  var onSkip: (() -> Void)?
  private let dom: D
  private let node: Node
  private let text: Node
  private let skip: Node

  init(_ dom: D, in parent: Node) {
    self.dom = dom
    node = dom.element("div", "ma-veil", in: parent)
    dom.setAttribute(node, "role", "status")
    dom.element("span", "mg-spinner", in: node)
    text = dom.element("span", in: node)
    skip = dom.button("ma-button", .toLatest, in: node)
    dom.setFlag(node, "hidden", true)
    dom.on(skip, .click) { [self] _ in onSkip?() }
  }

  func show(_ reason: Reason) {
    let isReturning = reason == .returning
    dom.setText(text, isReturning ? Strings[.returning] : Strings[.openingRoom])
    dom.setFlag(skip, "hidden", !isReturning)
    dom.setFlag(node, "hidden", false)
  }

  func hide() { dom.setFlag(node, "hidden", true) }
}
