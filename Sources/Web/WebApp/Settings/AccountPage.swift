import ClientCore
import JSON
import MatrixModel
import Messenger

/// The password, whom one ignores, and the end of the account.
final class AccountPage<D: DOM> {
  private static var shortestPassword: Int { 8 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let trouble: Node
  private let ignored: Node

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    let form = dom.element("form", "ma-form", in: page)
    dom.element("h3", "ma-field-label", text: Strings[.changePassword], in: form)
    let password = Field(
      dom, Strings[.newPassword], kind: "password", autocomplete: "new-password", hint: Strings[.newPasswordHint], in: form)
    var endsOthers = true
    CheckBox(dom, Strings[.signOutOthers], isOn: true, in: form) { endsOthers = $0 }
    let change = SubmitButton(dom, Strings[.changePassword], busy: Strings[.saving], in: form)
    trouble = frame.trouble(in: page)
    ignored = dom.element("div", "ma-form", in: page)
    addEnd(in: page)
    showIgnored()
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
        app.notices.show(Strings[.passwordChanged])
      }
      dom.flush()
    }
  }

  private func addEnd(in page: Node) {
    let end = dom.element("div", "ma-form", in: page)
    dom.element("h3", "ma-field-label", text: Strings[.closeAccount], in: end)
    dom.element("p", "ma-note", text: Strings[.closeAccountNote], in: end)
    var erases = false
    CheckBox(dom, Strings[.eraseMessages], isOn: false, in: end) { erases = $0 }
    let close = dom.button("ma-button ma-danger ma-wide", Strings[.closeAccount], in: end)
    dom.on(close, .click) { [self] _ in
      app.askSurely(.deactivateAccount(erases: erases)) { [self] in failed($0) }
    }
  }

  private func failed<Answer>(_ result: Result<Answer, ClientError>) {
    guard frame.isOpen, case .failure(let error) = result else { return }
    if case .cancelled = error { return }
    dom.setText(trouble, Strings.words(for: error))
  }

  // MARK: Ignored users

  private func showIgnored() {
    dom.releaseChildren(of: ignored)
    dom.element("h3", "ma-field-label", text: Strings[.ignoredUsers], in: ignored)
    for user in app.client.ignoredUsers.users.ordered() {
      let line = dom.element("div", "ma-listed", in: ignored)
      dom.element("span", "ma-entry-lines", text: user.string, in: line)
      let stop = dom.button("ma-button ma-small", Strings[.stopIgnoring], in: line)
      dom.setLabel(stop, Strings[.stopIgnoring] + ": " + user.string)
      dom.on(stop, .click) { [self] _ in setIgnored(user, false) }
    }
    let form = dom.element("form", "ma-form", in: ignored)
    let field = Field(dom, Strings[.userID], hint: Strings[.userIDHint], in: form)
    dom.button("ma-button", Strings[.ignore], submits: true, in: form)
    dom.on(form, .submit) { [self] _ in
      guard let user = UserID(field.text.trimmed) else {
        field.setError(Strings.words(for: .invalidUserID))
        return dom.flush()
      }
      setIgnored(user, true)
    }
  }

  /// The list is the account's: it is different once a sync has brought it back, which may be before the answer.
  private func setIgnored(_ user: UserID, _ isIgnored: Bool) {
    app.onIgnoredUsers = { [self] in if frame.isOpen { showIgnored() } }
    app.askOrSay(.setIgnored(user, isIgnored))
  }
}
