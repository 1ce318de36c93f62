import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Signing in, and making an account.
final class SignInScreen<D: DOM> {
  private static var shortestPassword: Int { 8 }

  private let app: App<D>
  private let dom: D
  let root: Node
  private let tabs: Tabbed<D>
  private let userName: Field<D>
  private let password: Field<D>
  private let forgot: Node
  /// Where the server sends no mail.
  private let askHost: Node
  private let support: SupportBox<D>
  /// Nothing is offered before it is known to work.
  private var sendsMail = false
  private let token: Field<D>
  private let newUserName: Field<D>
  private let newPassword: Field<D>
  private let card: Node
  private let inviteCard: InviteCard<D>
  private var invitation: LinkInvitation?
  /// The card is of a room whose address the page was opened with.
  private var isVisiting = false
  private let note: Node
  private let trouble: Node
  private let submit: SubmitButton<D>
  private let signOn: SingleSignOnButtons<D>
  private let guest: Node
  private let form: Node
  private let serverLine: Node
  private let serverForm: Node
  private let serverName: Node
  private let serverField: Field<D>
  private let serverUse: SubmitButton<D>
  /// The account cannot be used until the person who runs the server lets it.
  private var isLocked = false
  /// Answers that come after the end must not touch what is gone.
  private var isClosed = false

  init(_ app: App<D>) {
    self.app = app
    dom = app.dom
    root = dom.element("main", "ma-signin", in: .root)
    card = dom.element("div", "ma-card", in: root)
    Drawing.logo.draw(dom, in: card)
    inviteCard = InviteCard(app, heading: "h1", in: card)
    dom.element("h1", "ma-title", text: app.embedding == nil ? .welcome : .embeddedTitle, in: card)
    note = dom.element(
      "p", "ma-note", text: app.embedding.map { Strings[.embeddedNote, $0.page] } ?? Strings[.welcomeNote], in: card)
    tabs = Tabbed(dom, [.signIn, .createAccount], in: card)
    form = dom.element("form", "ma-form", in: card)
    dom.setFlag(form, "novalidate", true)
    userName = Field(dom, .userName, autocomplete: "username", hint: .userNameHint, in: form)
    newUserName = Field(dom, .userName, autocomplete: "username", hint: .newUserNameHint, in: form)
    password = Field(dom, .password, kind: "password", autocomplete: "current-password", in: form)
    forgot = dom.button("ma-link", .forgotPassword, in: form)
    askHost = dom.element("p", "ma-note", text: .forgotAsk, in: form)
    newPassword = Field(
      dom, Strings[.password], kind: "password", autocomplete: "new-password", hint: Strings[.newPasswordHint], in: form)
    token = Field(dom, .token, hint: .tokenHint, in: form)
    trouble = dom.element("p", "ma-trouble", in: form)
    dom.setAttribute(trouble, "role", "alert")
    submit = SubmitButton(dom, .signIn, busy: .signingIn, in: form)
    support = SupportBox(app, heading: "h2", in: form)
    signOn = SingleSignOnButtons(app, in: card)
    guest = dom.button("ma-button ma-wide", .goOnAsGuest, in: card)
    serverLine = dom.element("p", "ma-server", in: card)
    serverName = dom.element("span", "ma-server-name", in: serverLine)
    let change = dom.button("ma-link", .change, in: serverLine)
    serverForm = dom.element("form", "ma-form ma-server-form", in: card)
    serverField = Field(dom, .serverAddress, kind: "url", hint: .serverAddressHint, in: serverForm)
    serverUse = SubmitButton(dom, .use, busy: .checkingServer, in: serverForm)
    // The browser would refuse `example.org` in a field for addresses.
    dom.setFlag(serverForm, "novalidate", true)
    dom.setFlag(serverForm, "hidden", true)
    LanguageChoice(dom, in: card)
    support.isThere = { [self] in !isClosed }
    dom.on(change, .click) { [self] _ in changeServer() }
    listen()
    update()
    dom.focus(userName.input)
    dom.flush()
    showInvite()
    askServer()
    useLoginToken()
  }

  private func listen() {
    dom.on(form, .submit) { [self] _ in submitted() }
    dom.on(serverForm, .submit) { [self] _ in serverTyped() }
    dom.on(guest, .click) { [self] _ in goOnAsGuest() }
    dom.on(forgot, .click) { [app] _ in app.dialogs.open { MailDialog(app, .newPassword, in: $0) } }
    tabs.onChange = { [self] _ in
      say(nil)
      update()
      learnRegistration()
      dom.flush()
    }
    tabs.onPress = { [self] in ($0 == 1 ? newUserName : userName).focus() }
  }

  // MARK: Invitations

  /// Says what the page's address invites to. What it says is of the server that the page comes from.
  func showInvite() {
    guard let address = app.invite else { return showVisitedRoom() }
    if app.client.session == nil { app.effects.server = Server(base: Host.origin) }
    dom.setClass(card, "ma-card ma-is-invited")
    switch address {
    case .unread: inviteCard.say(Strings[.linkUnread])
    case .token(let token):
      inviteCard.say(Strings[.lookingAtLink])
      app.ask(.invitation(token)) { [self] in invitationAnswered($0, address) }
    case .room(let link):
      inviteCard.say(Strings[.lookingAtLink])
      app.ask(.roomSummary(link.roomText, via: link.via)) { [self] result in
        guard !isClosed, app.invite == address else { return }
        // Many rooms are shown only to people with an account: they see it then.
        if case .success(let room) = result { inviteCard.show(room) } else { inviteCard.say("") }
        dom.setText(note, .signInToJoin)
        dom.flush()
      }
    }
    dom.flush()
  }

  /// What the room is whose address the page was opened with. Only public rooms have one that others know: what has an ID alone is not asked for.
  private func showVisitedRoom() {
    if isVisiting { dropInvite() }
    isVisiting = false
    guard app.embedding == nil, app.client.session == nil, let link = app.next?.link, case .alias = link.target else { return }
    app.ask(.roomSummary(link.roomText, via: link.via)) { [self] result in
      guard !isClosed, app.next?.link == link, case .success(let room) = result else { return }
      isVisiting = true
      dom.setClass(card, "ma-card ma-is-invited")
      inviteCard.show(room)
      dom.setText(note, .signInToJoin)
      dom.flush()
    }
  }

  private func invitationAnswered(_ result: Result<LinkInvitation, ClientError>, _ address: InviteAddress) {
    guard !isClosed, app.invite == address else { return }
    switch result {
    case .failure(let error) where error.isUnknownLink: inviteCard.say(Strings[.linkNotValid])
    case .failure(let error): inviteCard.say(Strings.words(for: error)) { [self] in showInvite() }
    case .success(let found):
      invitation = found
      inviteCard.show(found)
      dom.setText(note, !found.letsRegister ? .linkForMembers : found.room == nil ? .signInToChat : .signInToJoin)
      if found.letsRegister, app.client.session == nil { tabs.select(1) }
      update()
    }
    dom.flush()
  }

  /// The token of a link that lets its holder create an account.
  private var inviteToken: ByteString? {
    guard invitation?.letsRegister ?? false, case .token(let token) = app.invite else { return nil }
    return token
  }

  /// Somebody wants another server, where the invitation is of no use.
  private func dropInvite() {
    app.invite = nil
    invitation = nil
    inviteCard.say("")
    dom.setClass(card, "ma-card")
    dom.setText(note, .welcomeNote)
  }

  /// A single sign-on came back to the page.
  private func useLoginToken() {
    guard let token = app.loginToken else { return }
    app.loginToken = nil
    // The form, and what it says, is hidden where there are only other ways.
    if token.isEmpty { return app.notices.show(.strangeSignOn, isTrouble: true) }
    app.ask(.session(.logIn(.token(token)))) { [self] in ended($0, userName) }
  }

  func close() {
    isClosed = true
    dom.release(root)
    dom.flush()
  }

  /// Follows `Client.sessionState` and `Client.signIn`.
  func update() {
    let isAgain = app.client.sessionState == .softLoggedOut || app.client.session != nil
    let isNew = tabs.selected == 1 && !isAgain
    tabs.setHidden(isAgain)
    dom.setFlag(serverLine, "hidden", isAgain)
    if isAgain {
      dom.setText(note, .signInAgain)
      if let user = app.userID, userName.text.utf8.isEmpty { userName.set(user.string) }
    }
    userName.setHidden(isNew)
    password.setHidden(isNew)
    dom.setFlag(forgot, "hidden", isNew || !sendsMail)
    dom.setFlag(askHost, "hidden", isNew || sendsMail)
    support.setHidden(isNew || app.embedding != nil || sendsMail && !isLocked)
    newUserName.setHidden(!isNew)
    newPassword.setHidden(!isNew)
    let signIn = app.client.signIn
    token.setHidden(!isNew || inviteToken != nil || !(signIn.needsRegistrationToken || signIn.registration == .withToken))
    let isBusy = app.client.sessionState == .signingIn
    submit.set(isNew ? .createAccount : .signIn, busy: isNew ? .creatingAccount : .signingIn)
    submit.setBusy(isBusy)
    signOn.update(signIn.flows, isNew: isNew)
    dom.setFlag(guest, "hidden", isAgain || signIn.flows?.allowsGuests != true)
    dom.setFlag(guest, "disabled", isBusy)
    // Where there are only other ways a form would lead nowhere.
    dom.setFlag(form, "hidden", !isNew && signIn.allowsPasswordLogin == false && signIn.flows?.allowsSingleSignOn ?? false)
    let obstacle = obstacle(isNew, signIn)
    submit.setEnabled(obstacle == nil)
    if let obstacle { say(obstacle) }
    dom.setText(serverName, Strings[.serverIs, app.effects.server.name])
  }

  private func obstacle(_ isNew: Bool, _ signIn: SignIn) -> String? {
    if isNew, signIn.registration == .closed, inviteToken == nil { return Strings[.registrationClosed] }
    if !isNew, signIn.allowsPasswordLogin == false { return Strings[.passwordLoginUnsupported] }
    return nil
  }

  private func say(_ text: String?) { dom.setText(trouble, text ?? "") }

  // MARK: Submitting

  private func submitted() {
    guard app.client.sessionState != .signingIn else { return }
    say(nil)
    if tabs.selected == 1, app.client.sessionState == .signedOut { register() } else { logIn() }
    dom.flush()
  }

  private func goOnAsGuest() {
    guard app.client.sessionState != .signingIn else { return }
    app.ask(.session(.registerGuest)) { [self] in ended($0, userName) }
  }

  private func logIn() {
    app.isNewcomer = false
    let user = userName.text.trimmed
    guard !user.utf8.isEmpty else { return fail(userName, Strings[.userNameMissing]) }
    guard !password.text.utf8.isEmpty else { return fail(password, Strings[.passwordMissing]) }
    app.ask(.session(.logIn(.password(ByteString(password.text), user: identifier(user))))) { [self] result in
      ended(result, password)
    }
  }

  /// An e-mail address has its @ behind the first letter.
  private func identifier(_ typed: String) -> UserIdentifier {
    let isEmail = typed.utf8.dropFirst().contains(UInt8(ascii: "@"))
    return isEmail ? .email(ByteString(typed)) : .user(ByteString(typed))
  }

  private func register() {
    app.isNewcomer = true
    let name = TypedName.meant(by: ByteString(newUserName.text))
    // Both in one round; the first of them gets the focus.
    let isShort = newPassword.text.utf8.count < SignInScreen.shortestPassword
    if isShort { fail(newPassword, Strings[.passwordShort]) }
    guard !name.isEmpty else { return fail(newUserName, Strings[.userNameMissing]) }
    guard UserID.isAllowedLocalpart(name) else { return fail(newUserName, Strings.whyNot(name)) }
    guard !isShort else { return }
    let signIn = app.client.signIn
    let wantsToken = signIn.needsRegistrationToken || signIn.registration == .withToken || signIn.registration == .closed
    let given = inviteToken?.string ?? token.text.trimmed
    if wantsToken, given.utf8.isEmpty { return fail(token, Strings[.tokenMissing]) }
    app.ask(
      .session(
        .register(
          username: name, password: ByteString(newPassword.text), token: wantsToken ? ByteString(given) : nil))
    ) { [self] result in
      ended(result, newUserName)
    }
  }

  private func ended(_ result: CommandResult, _ field: Field<D>) {
    guard !isClosed, case .failed(let error) = result else { return }
    isLocked = error.isAboutLock
    update()
    if inviteToken != nil, Strings.isAboutToken(error) { return say(Strings[.linkNotValid]) }
    if case .registrationTokenNeeded = error { return fail(token, Strings[.tokenMissing]) }
    if case .authenticationNeeded(let needed) = error { return ask(needed) }
    let isNew = tabs.selected == 1 && app.client.sessionState == .signedOut
    if isNew, Strings.isAboutToken(error) { return fail(token, Strings[.tokenWrong]) }
    say(isNew ? Strings.words(for: error) : Strings.wordsAtSignIn(for: error))
    field.focus()
  }

  /// A stage of the registration that only a person can go through.
  private func ask(_ needed: InteractiveAuthentication) {
    app.dialogs.open {
      AuthenticationDialog(app, needed, in: $0) { [self] stage, answered in
        guard let stage else { return }
        app.ask(.session(.continueRegistration(stage))) { [self] result in
          if case .failed(.authenticationNeeded(let again)) = result, again.nextStages == needed.nextStages {
            return answered(false)
          }
          answered(true)
          ended(result, newUserName)
        }
      }
    }
  }

  private func fail(_ field: Field<D>, _ text: String) {
    field.setError(text)
    field.focus()
  }

  // MARK: Server

  private func askServer() {
    app.ask(.versions()) { [self] result in
      guard !isClosed else { return }
      if case .success(let versions) = result {
        sendsMail = !versions.has("martlet.no_mail")
        support.learn(from: versions)
      }
      update()
      dom.flush()
    }
    app.ask(.session(.loadFlows)) { [self] result in
      guard !isClosed else { return }
      serverUse.setBusy(false)
      if case .failed = result { say(Strings[.serverUnreachable]) }
      update()
      learnRegistration()
    }
  }

  /// Asked only of a server that did not say it, and only for somebody who wants an account: its answer is a refusal.
  private func learnRegistration() {
    guard tabs.selected == 1, app.client.session == nil, app.client.signIn.flows != nil else { return }
    app.ask(.session(.loadRegistration))
  }

  private func changeServer() {
    dom.setFlag(serverForm, "hidden", false)
    dom.setFlag(serverLine, "hidden", true)
    serverField.set(app.effects.server.base)
    serverField.focus()
    dom.flush()
  }

  private func serverTyped() {
    guard let server = Server.address(typed: serverField.text) else {
      fail(serverField, Strings[.serverAddressWrong])
      return dom.flush()
    }
    guard !serverUse.isBusy else { return }
    serverUse.setBusy(true)
    say(nil)
    dom.flush()
    server.discover { [self] found in
      guard !isClosed else { return }
      app.effects.server = found
      if app.serverElsewhere != nil { dropInvite() }
      dom.setFlag(serverForm, "hidden", true)
      dom.setFlag(serverLine, "hidden", false)
      update()
      dom.flush()
      askServer()
    }
  }
}

extension Strings {
  /// Why that is no user name: the first letter that it may not have.
  fileprivate static func whyNot(_ name: ByteString) -> String {
    for character in name.string.unicodeScalars where !UserID.isAllowedLocalpart(ByteString(String(character))) {
      if character.value <= 0x20 { return self[.userNameWrongSpace] }
      return self[.userNameWrongLetter, String(character)]
    }
    return self[.userNameWrong]
  }
}
