import JSON
import MatrixModel

extension Client {
  // MARK: Flows

  mutating func loadFlows(_ id: CommandID) {
    request(.getLoginFlows, Endpoint.getLoginFlows.path(), for: .loginFlows(id))
  }

  /// Most servers tell only who tries to register, and browsers write each refusal down as an error.
  mutating func loadRegistration(_ id: CommandID) {
    guard signIn.registration == .unknown else { return finish(id, .done) }
    request(.register, Endpoint.register.path(), for: .registrationProbe(id))
  }

  mutating func loginFlowsAnswered(_ answer: Answer, _ id: CommandID) {
    guard case .success(let json) = answer, let flows = LoginFlows(json) else {
      let error = answer.error ?? .badAnswer
      signIn.error = error
      notify(.session)
      return finish(id, .failed(error))
    }
    signIn.error = nil
    signIn.allowsPasswordLogin = flows.allowsPassword
    signIn.flows = flows
    signIn.registration =
      switch flows.registration {
      case nil: .unknown
      case .open?: .open
      case .token?: .withToken
      case .closed?: .closed
      case .other?: .unsupported
      }
    notify(.session)
    finish(id, .done)
  }

  /// A registration without a name or stage: the flows come with the refusal.
  mutating func registrationProbeAnswered(_ answer: Answer, _ id: CommandID) {
    guard case .refused(let error, let body) = answer else { return finish(id, .failed(answer.error ?? .badAnswer)) }
    if error.status == 401, let flows = body.flatMap({ InteractiveAuthentication($0) }) {
      signIn.registration = flows.isOpen ? .open : flows.isOpenWithToken ? .withToken : .unsupported
    } else if error.status == 403 || error.status == 404 {
      signIn.registration = .closed
    }
    notify(.session)
    finish(id, .done)
  }

  // MARK: Login

  mutating func logIn(_ login: Login, deviceID: DeviceID?, _ id: CommandID) {
    guard sessionState == .signedOut || sessionState == .softLoggedOut else { return finish(id, .failed(signInRefusal)) }
    let deviceID = deviceID ?? (sessionState == .softLoggedOut ? session?.deviceID : nil)
    let body = JSONWriter.object { writer in
      login.write(to: &writer)
      writer.member("initial_device_display_name", deviceDisplayName)
      writer.member("refresh_token", true)
      if let deviceID { writer.member("device_id", deviceID) }
    }
    setSessionState(.signingIn)
    request(.login, Endpoint.login.path(), body: body, for: .logIn(id))
  }

  mutating func logInAnswered(_ answer: Answer, _ id: CommandID) {
    guard case .success(let json) = answer else { return signInFailed(answer.error ?? .badAnswer, id) }
    signedIn(json, id)
  }

  // MARK: Ends

  /// Why nobody can sign in now.
  var signInRefusal: ClientError {
    if let user = session?.userID, sessionState == .signedIn { .alreadySignedIn(user) } else { .notSignedIn }
  }

  mutating func signInFailed(_ error: ClientError, _ id: CommandID) {
    signIn.error = error
    setSessionState(session == nil ? .signedOut : .softLoggedOut)
    finish(id, .failed(error))
  }

  mutating func signedIn(_ json: JSON, _ id: CommandID) {
    guard let session = Session(json, homeserver: homeserver, now: now) else { return signInFailed(.badAnswer, id) }
    begin(session, id)
  }

  /// What is here already stays where it is of the same user; also what no login told whose it is goes.
  mutating func begin(_ session: Session, _ id: CommandID) {
    if self.session?.userID != session.userID { forgetData() }
    self.session = session
    registering = nil
    signIn.error = nil
    signIn.needsRegistrationToken = false
    write([StoreSchema.put, .put(key: StoreKey.session, value: session.record)])
    setSessionState(.signedIn)
    finish(id, .done)
    startSession()
  }

  mutating func setSessionState(_ state: SessionState) {
    sessionState = state
    notify(.session)
  }
}
