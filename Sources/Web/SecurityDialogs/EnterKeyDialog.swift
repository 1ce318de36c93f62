import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets

/// One field: the recovery key, by which this browser is verified.
package final class EnterKeyDialog<D: DOM> {
  private let dom: D
  private let frame: DialogFrame<D>
  private let trouble: Node

  /// - Parameters:
  ///   - recovered: called when the browser is verified and the dialog is closed.
  ///   - begin: called if the user has no key; makes new ones.
  @discardableResult
  package init(
    _ encryption: PageEncryption, in frame: DialogFrame<D>, recovered: @escaping () -> Void,
    begin: @escaping (EnterKeyDialog<D>) -> Void
  ) {
    self.frame = frame
    dom = frame.dom
    frame.setTitle(.useRecoveryKey)
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = Field(dom, .recoveryField, kind: "password", hint: .useRecoveryKeyNote, in: form)
    trouble = frame.trouble(in: form)
    let lost = dom.button("ma-link", .resetKeys, in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let submit = SubmitButton(dom, .recover, busy: .checking, in: buttons)
    frame.setFirst(field.input)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(lost, .click) { [self] _ in begin(self) }
    dom.on(form, .submit) { [self] _ in
      guard !submit.isBusy, !field.text.trimmed.utf8.isEmpty else { return field.focus() }
      submit.setBusy(true)
      dom.setText(trouble, "")
      encryption.perform(.recover(ByteString(field.text.trimmed))) { [self] outcome in
        guard frame.isOpen else { return }
        if case .done? = outcome {
          frame.close()
          return recovered()
        }
        submit.setBusy(false)
        if case .failed(.wrongKey)? = outcome {
          field.setError(Strings[.wrongRecoveryKey])
          field.focus()
        } else {
          say(outcome)
        }
        dom.flush()
      }
      dom.flush()
    }
  }

  /// The end of what `begin` has begun.
  package func took(_ outcome: EncryptionReport.Outcome?) {
    guard frame.isOpen else { return }
    if case .done? = outcome { frame.close() } else { say(outcome) }
    dom.flush()
  }

  private func say(_ outcome: EncryptionReport.Outcome?) {
    if case .failed(let failure)? = outcome { return dom.setText(trouble, Strings.words(for: failure)) }
    dom.setText(trouble, .encryptionUnavailable)
  }
}
