import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets
import WebHost

/// Writes the keys of encrypted messages into a file that a passphrase opens, or takes them from one, as other clients read and write them.
/// Spec: Client-Server API, "Key exports".
package final class KeyFileDialog<D: DOM> {
  package enum Kind {
    case export
    case take(PickedFile)
  }

  private static var bytesLimit: Int32 { 100 << 20 }

  private let encryption: PageEncryption
  private let done: (String) -> Void
  private let dom: D
  private let frame: DialogFrame<D>
  private let kind: Kind
  private let passphrase: Field<D>
  private let again: Field<D>
  private let progress: Node
  private let trouble: Node
  private let submit: SubmitButton<D>
  /// Until it is finished: letting go of it gives it up.
  private var file: ExportFile?

  /// - Parameter done: hears the words for how it ended well, when the dialog is closed.
  @discardableResult
  package init(_ encryption: PageEncryption, _ kind: Kind, in frame: DialogFrame<D>, _ done: @escaping (String) -> Void) {
    self.encryption = encryption
    self.done = done
    self.kind = kind
    self.frame = frame
    dom = frame.dom
    let form = dom.element("form", "ma-form", in: frame.body)
    let note = dom.element("p", "ma-note", in: form)
    var isExport = false
    if case .export = kind { isExport = true }
    frame.setTitle(isExport ? .exportKeys : .importKeys)
    passphrase = Field(
      dom, Strings[.passphrase], kind: "password", autocomplete: isExport ? "new-password" : "off", in: form)
    again = Field(dom, Strings[.passphraseAgain], kind: "password", autocomplete: "new-password", in: form)
    again.setHidden(!isExport)
    progress = dom.element("p", "ma-note", in: form)
    dom.setAttribute(progress, "role", "status")
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    submit = SubmitButton(
      dom, isExport ? .exportKeysNow : .importKeysNow, busy: isExport ? .exporting : .importingKeys, in: buttons)
    switch kind {
    case .export: dom.setText(note, Strings[.exportKeysNote])
    case .take(let file): dom.setText(note, Strings[.importKeysNote, file.name])
    }
    frame.setFirst(passphrase.input)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in
      if !submit.isBusy { begin() }
      dom.flush()
    }
  }

  private func begin() {
    guard !passphrase.text.utf8.isEmpty else { return passphrase.focus() }
    dom.setText(trouble, "")
    switch kind {
    case .export:
      guard passphrase.text.hasSameBytes(as: again.text) else {
        again.setError(Strings[.passphrasesDiffer])
        return again.focus()
      }
      submit.setBusy(true)
      // While the press is being handled: the browser may ask where the file goes.
      ExportFile.open(named: "room-keys.txt", mediaType: "text/plain") { [self] file in
        guard frame.isOpen else { return }
        guard let file else { return submit.setBusy(false) }
        export(to: file)
      }
    case .take(let file):
      submit.setBusy(true)
      Host.read(file, bytesLimit: Self.bytesLimit) { [self] bytes in
        guard frame.isOpen else { return }
        guard let bytes else { return fail(.keyFileTooLarge) }
        take(bytes)
      }
    }
  }

  private func perform(_ action: EncryptionAction, _ then: @escaping (EncryptionReport.Outcome?) -> Void) {
    encryption.perform(action) { [self] done, count in
      guard frame.isOpen else { return }
      dom.setText(progress, Strings[.keysProgress, "\(done * 100 / max(count, 1))"])
      dom.flush()
    } _: { [self] outcome in
      guard frame.isOpen else { return }
      dom.setText(progress, "")
      then(outcome)
      dom.flush()
    }
  }

  private func export(to file: ExportFile) {
    self.file = file
    perform(.exportKeys(passphrase: ByteString(passphrase.text))) { [self] outcome in
      guard case .done(let text)? = outcome else { return fail(outcome) }
      file.write(text.utf8) { [self] isWritten in
        guard isWritten else { return fail(.keyFileNotWritten) }
        file.finish { [self] isDone in
          self.file = nil
          guard isDone else { return fail(.keyFileNotWritten) }
          frame.close()
          done(Strings[.keysExported])
          dom.flush()
        }
      }
    }
  }

  private func take(_ bytes: [UInt8]) {
    perform(.importKeys(bytes, passphrase: ByteString(passphrase.text))) { [self] outcome in
      guard case .imported(let total, let new, _)? = outcome else { return fail(outcome) }
      frame.close()
      done(Strings[.keysImported, "\(total)", "\(new)"])
    }
  }

  // MARK: What went wrong

  private func fail(_ outcome: EncryptionReport.Outcome?) {
    switch outcome {
    case .failed(.wrongKey):
      submit.setBusy(false)
      passphrase.setError(Strings[.wrongPassphrase])
      passphrase.focus()
    case .failed(.notAKeyFile): fail(.notAKeyFile)
    case .failed(.keyFileCutOff): fail(.keyFileCutOff)
    case .failed(.newerKeyFile): fail(.newerKeyFile)
    case .failed(.keyFileTooLarge): fail(.keyFileTooLarge)
    default: fail(.encryptionUnavailable)
    }
  }

  private func fail(_ words: Strings.Key) {
    submit.setBusy(false)
    file = nil
    dom.setText(trouble, Strings[words])
    dom.flush()
  }
}
