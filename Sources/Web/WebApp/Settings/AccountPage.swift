import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// The password, the e-mail addresses, and the end of the account.
final class AccountPage<D: DOM> {
  private static var shortestPassword: Int { 8 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let trouble: Node
  private let emails: Node
  private let again: MoreButton<D>

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    let form = dom.element("form", "ma-form", in: page)
    dom.element("h3", "ma-field-label", text: .changePassword, in: form)
    let password = Field(
      dom, Strings[.newPassword], kind: "password", autocomplete: "new-password", hint: Strings[.newPasswordHint], in: form)
    var endsOthers = true
    CheckBox(dom, Strings[.signOutOthers], isOn: true, in: form) { endsOthers = $0 }
    let change = SubmitButton(dom, .changePassword, busy: .saving, in: form)
    trouble = frame.trouble(in: page)
    emails = dom.element("div", "ma-form", in: page)
    again = MoreButton(dom, busy: .checking, in: page)
    addExport(in: page)
    addEnd(in: page)
    again.onPress = { [self] in
      dom.setText(trouble, "")
      loadEmails()
    }
    loadEmails()
    dom.on(form, .submit) { [self] _ in
      guard !change.isBusy else { return }
      guard password.text.utf8.count >= Self.shortestPassword else {
        password.setError(Strings[.passwordShort])
        password.focus()
        return dom.flush()
      }
      change.setBusy(true)
      dom.setText(trouble, "")
      app.askSurely(.changePassword(ByteString(password.text), logsOutOthers: endsOthers)) { [self] result in
        guard frame.isOpen else { return }
        change.setBusy(false)
        guard case .success = result else { return failed(result) }
        password.set("")
        app.notices.show(.passwordChanged)
      }
      dom.flush()
    }
  }

  // MARK: E-mail addresses

  private func loadEmails() {
    again.begin()
    app.ask(.thirdPartyIDs()) { [self] result in
      guard frame.isOpen else { return }
      guard case .success(let all) = result else {
        again.fail()
        return failed(result)
      }
      again.end(hasMore: false)
      showEmails(all)
    }
    dom.flush()
  }

  private func showEmails(_ all: [ThirdPartyID]) {
    dom.releaseChildren(of: emails)
    dom.element("h3", "ma-field-label", text: .emails, in: emails)
    if all.isEmpty { dom.element("p", "ma-note", text: .noEmails, in: emails) }
    for id in all {
      let line = dom.element("div", "ma-listed", in: emails)
      let address = id.address.string
      dom.element("span", "ma-entry-lines", text: address, in: line)
      let remove = dom.button("ma-round", icon: .close, label: Strings[.removeNamed, address], in: line)
      dom.on(remove, .click) { [self] _ in
        dom.setText(trouble, "")
        app.ask(.removeThirdPartyID(id)) { [self] result in
          failed(result)
          if frame.isOpen { loadEmails() }
        }
      }
    }
    let add = dom.button("ma-button", .addEmail, in: emails)
    dom.on(add, .click) { [self] _ in app.dialogs.open { MailDialog(app, .newAddress, in: $0) { [self] in loadEmails() } } }
  }

  // MARK: Export

  private func addExport(in page: Node) {
    let part = dom.element("div", "ma-form", in: page)
    dom.element("h3", "ma-field-label", text: .exportAll, in: part)
    dom.element("p", "ma-note", text: .exportAllNote, in: part)
    let export = dom.button("ma-button", .exportAll, in: part)
    dom.on(export, .click) { [app] _ in app.dialogs.open { ExportDialog(app, nil, in: $0) } }
  }

  // MARK: The end

  private func addEnd(in page: Node) {
    let end = dom.element("div", "ma-form", in: page)
    dom.element("h3", "ma-field-label", text: .closeAccount, in: end)
    dom.element("p", "ma-note", text: .closeAccountNote, in: end)
    var erases = false
    CheckBox(dom, Strings[.eraseMessages], isOn: false, in: end) { erases = $0 }
    let close = dom.button("ma-button ma-danger ma-wide", .closeAccount, in: end)
    dom.on(close, .click) { [self] _ in
      app.dialogs.open { frame in
        ConfirmDialog(
          Strings[.closeAccount], note: Strings[.closeAccountNote], action: .closeAccount, busy: .checking, in: frame,
          run: { [app] ended in
            app.askSurely(.deactivateAccount(erases: erases)) { result in
              if case .failure(let error) = result { ended(Strings.words(for: error)) } else { ended(nil) }
            }
          })
      }
    }
  }

  private func failed<Answer>(_ result: Result<Answer, ClientError>) {
    guard frame.isOpen, case .failure(let error) = result else { return }
    if case .cancelled = error { return }
    dom.setText(trouble, Strings.words(for: error))
  }
}
