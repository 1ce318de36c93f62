import Messenger

/// An element's text that is set only when it is different.
struct TextView<D: DOM> {
  let node: Node
  private let dom: D
  private(set) var text = ""

  init(_ dom: D, _ tag: String, _ classes: String, in parent: Node) {
    self.dom = dom
    node = dom.element(tag, classes, in: parent)
  }

  mutating func set(_ new: String) {
    guard !new.hasSameBytes(as: text) else { return }
    text = new
    dom.setText(node, new)
  }
}
