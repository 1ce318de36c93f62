import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Shows by a link in a mail whose an address is, for what the server does only for its owner.
final class MailDialog<D: DOM> {
  enum Purpose {
    /// For who has forgotten the one before. Nobody is signed in.
    case newPassword
    /// One more address of the account.
    case newAddress
  }

  private static var shortestPassword: Int { 8 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let purpose: Purpose
  private let note: Node
  private let email: Field<D>
  private let password: Field<D>
  private let trouble: Node
  private let submit: SubmitButton<D>
  /// To which a mail went.
  private var address: ValidatedAddress?
  private let then: () -> Void

  /// - Parameter then: called once it is done, and the dialog closed.
  @discardableResult
  init(_ app: App<D>, _ purpose: Purpose, in frame: DialogFrame<D>, _ then: @escaping () -> Void = {}) {
    self.app = app
    self.frame = frame
    self.purpose = purpose
    self.then = then
    dom = app.dom
    frame.setTitle(Strings[purpose == .newPassword ? .forgotPassword : .addEmail])
    let form = dom.element("form", "ma-form", in: frame.body)
    // The browser's own words for a wrong address would be in another language than the page.
    dom.setFlag(form, "novalidate", true)
    note = dom.element("p", "ma-note", text: Strings[purpose == .newPassword ? .forgotNote : .emailWanted], in: form)
    dom.setAttribute(note, "role", "status")
    email = Field(dom, .email, kind: "email", autocomplete: "email", in: form)
    password = Field(
      dom, Strings[.newPassword], kind: "password", autocomplete: "new-password", hint: Strings[.newPasswordHint], in: form)
    password.setHidden(true)
    trouble = frame.trouble(in: form)
    submit = SubmitButton(
      dom, .goOn, busy: .checking, in: dom.element("div", "ma-buttons", in: form))
    frame.setFirst(email.input)
    dom.on(form, .submit) { [self] _ in
      guard !submit.isBusy else { return }
      dom.setText(trouble, "")
      if let address { prove(address) } else { sendMail() }
      dom.flush()
    }
  }

  private func sendMail() {
    let mail = email.text.trimmed
    submit.setBusy(true)
    app.sendMail(to: mail, purpose == .newPassword ? .passwordReset : .newAddress) { [self] result in
      guard frame.isOpen else { return }
      submit.setBusy(false)
      switch result {
      case .success(let address):
        self.address = address
        dom.setText(note, Strings[.mailSent, mail])
        email.setHidden(true)
        password.setHidden(purpose != .newPassword)
        if purpose == .newPassword { password.focus() } else { dom.focus(submit.node) }
      case .failure(let error):
        email.focus()
        dom.setText(trouble, Strings.wordsOfMail(for: error))
      }
      dom.flush()
    }
  }

  private func prove(_ address: ValidatedAddress) {
    if case .newAddress = purpose {
      submit.setBusy(true)
      return app.askSurely(.addThirdPartyID(address)) { [self] in ended($0) }
    }
    guard password.text.utf8.count >= Self.shortestPassword else {
      password.setError(Strings[.passwordShort])
      return password.focus()
    }
    submit.setBusy(true)
    let query = Query<Void>.changePassword(ByteString(password.text))
    app.ask(query) { [self] result in
      guard case .failure(.authenticationNeeded(let needed)) = result else { return ended(result) }
      app.ask(query.authenticated(by: .email(address), needed)) { [self] in ended($0) }
    }
  }

  private func ended(_ result: Result<Void, ClientError>) {
    guard frame.isOpen else { return }
    submit.setBusy(false)
    guard case .failure(let error) = result else {
      frame.close()
      app.notices.show(purpose == .newPassword ? Strings[.passwordChanged] : Strings[.emailAdded])
      return then()
    }
    if case .cancelled = error { return }
    dom.setText(trouble, Strings.wordsOfMail(for: error))
    dom.flush()
  }
}

extension App {
  /// Has the server send a link to the address; what comes proves that its owner asks, once they have followed the link.
  func sendMail(
    to mail: String, _ purpose: EmailPurpose, _ then: @escaping (Result<ValidatedAddress, ClientError>) -> Void
  ) {
    // Four bits a letter.
    let secret = ByteString(decoding: Host.randomBytes(32).map { 0x61 + $0 & 15 })
    ask(.requestEmail(ByteString(mail), for: purpose, clientSecret: secret)) { result in
      then(result.map { ValidatedAddress(sessionID: $0, clientSecret: secret) })
    }
  }
}
