import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Asks for what the server wants to know first: the password, an e-mail address, agreement to its terms. To anything else it leads
/// on the server's own page. Spec: "User-interactive authentication API".
final class AuthenticationDialog<D: DOM> {
  private enum Stage { case password, email, terms, elsewhere }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let needed: InteractiveAuthentication
  private let stage: Stage
  private let field: Field<D>
  private let note: Node
  private let trouble: Node
  private let submit: SubmitButton<D>
  private var agrees = false
  private var isAnswered = false
  /// The address to which a mail went.
  private var address: ValidatedAddress?

  /// - Parameter then: called with what proves who asks, nil where the dialog was closed. What it is given is to be told whether that
  ///   was enough.
  @discardableResult
  init(
    _ app: App<D>, _ needed: InteractiveAuthentication, in frame: DialogFrame<D>,
    _ then: @escaping (AuthenticationStage?, @escaping (Bool) -> Void) -> Void
  ) {
    self.app = app
    self.frame = frame
    self.needed = needed
    dom = app.dom
    let stage = Self.stage(of: needed)
    self.stage = stage
    frame.setTitle(Strings[stage == .password ? .isItYou : .oneMoreStep])
    let form = dom.element("form", "ma-form", in: frame.body)
    note = dom.element("p", "ma-note", in: form)
    field =
      stage == .email
      ? Field(dom, .email, kind: "email", autocomplete: "email", in: form)
      : Field(dom, .password, kind: "password", autocomplete: "current-password", in: form)
    field.setHidden(stage != .email && stage != .password)
    let terms = dom.element("div", "ma-form", in: form)
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    submit = SubmitButton(dom, .goOn, busy: .checking, in: buttons)
    frame.setFirst(stage == .email || stage == .password ? field.input : submit.node)
    frame.onEnd = { [self] in if !isAnswered { then(nil) { _ in } } }
    switch stage {
    case .password: dom.setText(note, .passwordToGoOn)
    case .email: dom.setText(note, .emailWanted)
    case .terms: addTerms(in: terms)
    case .elsewhere: addPage(in: terms)
    }
    dom.on(form, .submit) { [self] _ in submitted(then) }
  }

  private static func stage(of needed: InteractiveAuthentication) -> Stage {
    let next = needed.nextStages
    if next.contains("m.login.password") { return .password }
    if next.contains("m.login.terms") { return .terms }
    return next.contains("m.login.email.identity") ? .email : .elsewhere
  }

  private func addTerms(in node: Node) {
    dom.setText(note, .termsToAgree)
    for policy in needed.policies(language: ByteString(Host.language)) {
      let link = dom.button("ma-link", policy.name.string, in: node)
      dom.setAttribute(link, "role", "link")
      dom.on(link, .click) { _ in Host.open(url: policy.url.string) }
    }
    CheckBox(dom, Strings[.agree], isOn: false, in: node) { [self] in agrees = $0 }
  }

  private func addPage(in node: Node) {
    dom.setText(note, .goOnElsewhere)
    let page = dom.button("ma-button", .openPage, in: node)
    dom.on(page, .click) { [self] _ in
      Host.open(url: app.effects.server.base + needed.fallback(for: needed.nextStages.first ?? ""))
    }
  }

  // MARK: Answering

  private func submitted(_ then: @escaping (AuthenticationStage?, @escaping (Bool) -> Void) -> Void) {
    guard !submit.isBusy else { return }
    dom.setText(trouble, "")
    switch stage {
    case .password: if let user = app.userID { prove(.password(ByteString(field.text), user: .user(user.text)), then) }
    case .email: if let address { prove(.email(address), then) } else { sendMail() }
    case .terms:
      if agrees {
        prove(.terms, then)
      } else {
        dom.setText(trouble, .agreeFirst)
        dom.flush()
      }
    case .elsewhere: prove(.completedElsewhere, then)
    }
  }

  private func prove(
    _ proof: AuthenticationStage, _ then: @escaping (AuthenticationStage?, @escaping (Bool) -> Void) -> Void
  ) {
    submit.setBusy(true)
    isAnswered = true
    then(proof) { [self] isEnough in
      guard frame.isOpen else { return }
      if isEnough { return frame.close() }
      isAnswered = false
      submit.setBusy(false)
      dom.setText(trouble, Strings[stage == .password ? .passwordWrong : stage == .email ? .mailNotFollowed : .notDoneYet])
      field.focus()
      dom.flush()
    }
    dom.flush()
  }

  private func sendMail() {
    let mail = field.text.trimmed
    submit.setBusy(true)
    app.sendMail(to: mail, .registration) { [self] result in
      guard frame.isOpen else { return }
      submit.setBusy(false)
      switch result {
      case .success(let address):
        self.address = address
        dom.setText(note, Strings[.mailSent, mail])
        field.setHidden(true)
      case .failure(let error): dom.setText(trouble, Strings.wordsOfMail(for: error))
      }
    }
    dom.flush()
  }
}
