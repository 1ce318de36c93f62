import Messenger

/// A labelled list of which one holds.
package final class Choice<D: DOM> {
  package let node: Node
  /// Called with what is kept of the one that was chosen.
  package var onChange: (String) -> Void = { _ in }
  private let dom: D
  private let list: Node
  private var shown: [(value: String, words: String)] = []

  /// - Parameter options: what is kept, and the words for it.
  @discardableResult
  package init(
    _ dom: D, _ label: String, _ options: [(value: String, words: String)], selected: String, in parent: Node,
    _ then: @escaping (String) -> Void = { _ in }
  ) {
    self.dom = dom
    onChange = then
    node = dom.element("label", "ma-field", in: parent)
    dom.element("span", "ma-field-label", text: label, in: node)
    list = dom.element("select", "ma-input ma-choice", in: dom.element("span", "ma-field-box", in: node))
    dom.setLabel(list, label)
    setOptions(options, selected: selected)
    dom.on(list, .change) { [self] in onChange($0.text) }
  }

  package func setOptions(_ options: [(value: String, words: String)], selected: String) {
    let isSame = options.elementsEqual(shown) { $0.value.hasSameBytes(as: $1.value) && $0.words.hasSameBytes(as: $1.words) }
    if !isSame {
      shown = options
      dom.releaseChildren(of: list)
      for option in options {
        let line = dom.element("option", text: option.words, in: list)
        dom.setAttribute(line, "value", option.value)
      }
    }
    set(selected)
  }

  package func set(_ value: String) { dom.setValue(list, value) }

  package func setEnabled(_ isEnabled: Bool) { dom.setFlag(list, "disabled", !isEnabled) }
}
