import Messenger

/// A box that is ticked or not, with words beside it.
package struct CheckBox<D: DOM> {
  private let dom: D
  private let input: Node

  @discardableResult
  package init(_ dom: D, _ words: String, isOn: Bool, in parent: Node, _ then: @escaping (Bool) -> Void) {
    self.dom = dom
    let line = dom.element("label", "ma-check", in: parent)
    input = dom.element("input", in: line)
    dom.setAttribute(input, "type", "checkbox")
    if isOn { dom.setFlag(input, "checked", true) }
    dom.element("span", text: words, in: line)
    dom.on(input, .change) { then($0.x == 1) }
  }
}
