import Messenger
import WebHost

/// A labelled line of text with a hint or an error below it.
package final class Field<D: DOM> {
  package let node: Node
  package let input: Node
  package private(set) var text = ""
  /// The text changed by typing.
  package var onInput: (() -> Void)?
  /// Called when the person is done with it.
  package var onChange: (() -> Void)?
  private let dom: D
  private let hint: Node
  private let hintText: String
  private var hasError = false

  /// - Parameters:
  ///   - kind: the `type` attribute.
  ///   - autocomplete: HTML's word for the browser's own filling in; empty for none.
  package init(_ dom: D, _ label: String, kind: String = "text", autocomplete: String = "", hint: String = "", in parent: Node)
  {
    self.dom = dom
    hintText = hint
    node = dom.element("label", "ma-field", in: parent)
    dom.element("span", "ma-field-label", text: label, in: node)
    let box = dom.element("span", "ma-field-box", in: node)
    input = dom.element("input", "ma-input", in: box)
    self.hint = dom.element("span", "ma-field-hint", text: hint, in: node)
    dom.setAttribute(input, "type", kind)
    dom.setAttribute(input, "aria-label", label)
    dom.setAttribute(input, "autocapitalize", "none")
    dom.setAttribute(input, "spellcheck", "false")
    dom.setAttribute(input, "autocomplete", autocomplete.utf8.isEmpty ? "off" : autocomplete)
    dom.on(input, .input) { [self] in typed($0.text) }
    dom.on(input, .change) { [self] in
      typed($0.text)
      onChange?()
    }
    if Field.isPassword(kind) { addReveal(in: box) }
  }

  package convenience init(
    _ dom: D, _ label: Strings.Key, kind: String = "text", autocomplete: String = "", hint: Strings.Key? = nil, in parent: Node
  ) {
    self.init(
      dom, Strings[label], kind: kind, autocomplete: autocomplete, hint: hint.map { Strings[$0] } ?? "", in: parent)
  }

  package func set(_ text: String) {
    self.text = text
    dom.setValue(input, text)
  }

  /// nil takes the error away.
  package func setError(_ error: String?) {
    guard error != nil || hasError else { return }
    hasError = error != nil
    dom.setText(hint, error ?? hintText)
    dom.setClass(hint, error == nil ? "ma-field-hint" : "ma-field-hint ma-error")
    dom.setAttribute(input, "aria-invalid", error == nil ? "false" : "true")
  }

  package func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }

  package func focus() { dom.focus(input) }

  private func typed(_ text: String) {
    guard !text.hasSameBytes(as: self.text) else { return }
    self.text = text
    setError(nil)
    onInput?()
    dom.flush()
  }

  private func addReveal(in box: Node) {
    let button = dom.button("ma-reveal", icon: .eye, label: .showPassword, in: box)
    var isShown = false
    dom.on(button, .click) { [self] _ in
      isShown = !isShown
      dom.setAttribute(input, "type", isShown ? "text" : "password")
      dom.setAttribute(button, "aria-pressed", isShown ? "true" : "false")
      dom.setLabel(button, isShown ? .hidePassword : .showPassword)
      dom.focus(input)
      dom.flush()
    }
  }

  private static func isPassword(_ kind: String) -> Bool { kind.hasSameBytes(as: "password") }
}
