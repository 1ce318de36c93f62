import ClientCore
import JSON
import Messenger

/// One line of text and what is done with it: a name, a topic, a user to invite.
struct PromptDialog<D: DOM> {
  /// - Parameters:
  ///   - text: stands in the field at first.
  ///   - command: nil where the text cannot be used; the field then shows `wrong`.
  init(
    _ app: App<D>, _ title: String, label: String, hint: String = "", text: String = "", action: String, busy: String,
    wrong: String = "", in frame: DialogFrame<D>, _ command: @escaping (String) -> Command?,
    _ then: @escaping (String) -> Void = { _ in }
  ) {
    let dom = app.dom
    frame.setTitle(title)
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = Field(dom, label, hint: hint, in: form)
    field.set(text)
    frame.setFirst(field.input)
    let trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", Strings[.cancel], in: buttons)
    let submit = SubmitButton(dom, action, busy: busy, in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { _ in
      guard !submit.isBusy else { return }
      let typed = field.text.trimmed
      guard let command = command(typed) else {
        field.setError(wrong)
        field.focus()
        return dom.flush()
      }
      submit.setBusy(true)
      dom.setText(trouble, "")
      app.ask(command) { result in
        if case .failed(let error) = result {
          guard frame.isOpen else { return }
          submit.setBusy(false)
          dom.setText(trouble, Strings.words(for: error))
          return field.focus()
        }
        frame.close()
        then(typed)
      }
      dom.flush()
    }
  }
}
