import ClientCore
import JSON
import Messenger
import PageWidgets
import PageWords

/// One line of text and what is done with it: a name, a topic.
struct PromptDialog<D: DOM> {
  /// - Parameters:
  ///   - text: stands in the field at first.
  ///   - command: nil where the text cannot be used; the field then shows `wrong`.
  init(
    _ app: App<D>, _ title: Strings.Key, label: Strings.Key, hint: String = "", text: String = "",
    action: Strings.Key, busy: Strings.Key, wrong: String = "", in frame: DialogFrame<D>,
    _ command: @escaping (String) -> Command?, _ then: @escaping (String) -> Void = { _ in }
  ) {
    self.init(
      app, title, label: label, hint: hint, text: text, action: action, busy: busy, wrong: wrong, in: frame,
      run: { text, ended in
        guard let command = command(text) else { return false }
        app.save(command, ended)
        return true
      }, then)
  }

  /// - Parameter run: does something with the text and says how it ended; false where the text cannot be used.
  init(
    _ app: App<D>, _ title: Strings.Key, label: Strings.Key, hint: String = "", text: String = "",
    action: Strings.Key, busy: Strings.Key, wrong: String = "", in frame: DialogFrame<D>,
    run: @escaping (String, @escaping (ClientError?) -> Void) -> Bool,
    _ then: @escaping (String) -> Void
  ) {
    let dom = app.dom
    frame.setTitle(title)
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = Field(dom, Strings[label], hint: hint, in: form)
    field.set(text)
    frame.setFirst(field.input)
    let trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let submit = SubmitButton(dom, action, busy: busy, in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { _ in
      guard !submit.isBusy else { return }
      let typed = field.text.trimmed
      submit.setBusy(true)
      dom.setText(trouble, "")
      let isUsed = run(typed) { error in
        if let error {
          guard frame.isOpen else { return }
          submit.setBusy(false)
          dom.setText(trouble, Strings.words(for: error))
          return field.focus()
        }
        frame.close()
        then(typed)
      }
      if !isUsed {
        submit.setBusy(false)
        field.setError(wrong)
        field.focus()
      }
      dom.flush()
    }
  }
}
