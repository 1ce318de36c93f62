import Messenger

/// A labelled list of which one holds.
final class Choice<D: DOM> {
  let node: Node
  private let dom: D
  private let list: Node

  /// - Parameters:
  ///   - options: what is kept, and the words for it.
  ///   - then: called with what is kept of the one that was chosen.
  @discardableResult
  init(
    _ dom: D, _ label: String, _ options: [(value: String, words: String)], selected: String, in parent: Node,
    _ then: @escaping (String) -> Void
  ) {
    self.dom = dom
    node = dom.element("label", "ma-field", in: parent)
    dom.element("span", "ma-field-label", text: label, in: node)
    list = dom.element("select", "ma-input ma-choice", in: dom.element("span", "ma-field-box", in: node))
    dom.setLabel(list, label)
    for option in options {
      let line = dom.element("option", text: option.words, in: list)
      dom.setAttribute(line, "value", option.value)
    }
    set(selected)
    dom.on(list, .change) { then($0.text) }
  }

  func set(_ value: String) { dom.setValue(list, value) }

  func setEnabled(_ isEnabled: Bool) { dom.setFlag(list, "disabled", !isEnabled) }
}
