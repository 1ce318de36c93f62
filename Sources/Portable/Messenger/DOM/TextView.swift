/// An element's text that is set only when it is different.
package struct TextView<D: DOM> {
  package let node: Node
  private let dom: D
  package private(set) var text = ""

  package init(_ dom: D, _ tag: String, _ classes: String, in parent: Node) {
    self.dom = dom
    node = dom.element(tag, classes, in: parent)
  }

  package mutating func set(_ new: String) {
    guard !new.hasSameBytes(as: text) else { return }
    text = new
    dom.setText(node, new)
  }
}
