import Messenger

/// A dialog with fields that are filled by its maker, and a button that does something with them.
package final class FormDialog<D: DOM> {
  package let form: Node
  private let dom: D
  private let frame: DialogFrame<D>
  private let trouble: Node
  private let submit: SubmitButton<D>

  /// - Parameters:
  ///   - fields: puts them into the form.
  ///   - run: called when the form is sent; it ends with `fail` or `end`.
  @discardableResult
  package init(
    _ dom: D, _ title: String, _ note: String = "", action: Strings.Key, isDangerous: Bool = false, in frame: DialogFrame<D>,
    fields: (Node) -> Void, _ run: @escaping (FormDialog<D>) -> Void
  ) {
    self.dom = dom
    self.frame = frame
    frame.setTitle(title)
    form = dom.element("form", "ma-form", in: frame.body)
    if !note.utf8.isEmpty { dom.element("p", "ma-note", text: note, in: form) }
    let place = dom.element("div", "ma-form", in: form)
    fields(place)
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    submit = SubmitButton(dom, action, busy: .adminWorking, kind: isDangerous ? "ma-danger" : "ma-primary", in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in
      guard !submit.isBusy else { return }
      submit.setBusy(true)
      dom.setText(trouble, "")
      run(self)
      dom.flush()
    }
  }

  package func fail(_ words: String) {
    guard frame.isOpen else { return }
    submit.setBusy(false)
    dom.setText(trouble, words)
    dom.flush()
  }

  package func fail(_ field: Field<D>, _ words: String) {
    guard frame.isOpen else { return }
    submit.setBusy(false)
    field.setError(words)
    field.focus()
    dom.flush()
  }

  package func end() { frame.close() }
}
