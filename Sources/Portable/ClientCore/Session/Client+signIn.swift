import JSON
import MatrixModel

/// A registration between two stages.
struct Registering: Sendable {
  var username: ByteString
  var password: ByteString
  var token: ByteString?
  /// The stage last tried; the same stage twice means that it failed.
  var triedStage: ByteString?
}

extension Client {
  // MARK: Flows

  mutating func loadFlows(_ id: CommandID) {
    request(.getLoginFlows, Endpoint.getLoginFlows.path(), for: .loginFlows(id))
    request(.register, Endpoint.register.path(), for: .registrationProbe(0))
  }

  mutating func loginFlowsAnswered(_ answer: Answer, _ id: CommandID) {
    guard case .success(let json) = answer else {
      signIn.error = answer.error
      notify(.session)
      return finish(id, .failed(answer.error ?? .badAnswer))
    }
    signIn.error = nil
    signIn.allowsPasswordLogin =
      json["flows"]?.elements.contains { $0["type"]?.isString("m.login.password") ?? false } ?? false
    notify(.session)
    finish(id, .done)
  }

  /// A registration without a name or stage: the flows come with the refusal.
  mutating func registrationProbeAnswered(_ answer: Answer, _ id: CommandID) {
    if case .refused(let error, let body) = answer {
      if error.status == 401, let body, body["flows"] != nil {
        let flows = RegistrationFlows(body)
        signIn.registration = flows.isOpen ? .open : flows.isOpenWithToken ? .withToken : .unsupported
      } else if error.status == 403 || error.status == 404 {
        signIn.registration = .closed
      }
      notify(.session)
    }
  }

  // MARK: Login

  mutating func logIn(user: ByteString, password: ByteString, _ id: CommandID) {
    guard sessionState == .signedOut || sessionState == .softLoggedOut else { return finish(id, .failed(.notSignedIn)) }
    let deviceID = sessionState == .softLoggedOut ? session?.deviceID : nil
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", "m.login.password")
      writer.key("identifier")
      writer.object { writer in
        writer.member("type", "m.id.user")
        writer.member("user", user)
      }
      writer.member("password", password)
      writer.member("initial_device_display_name", deviceDisplayName)
      if let deviceID { writer.member("device_id", deviceID) }
    }
    setSessionState(.signingIn)
    request(.login, Endpoint.login.path(), body: writer.bytes, for: .logIn(id))
  }

  mutating func logInAnswered(_ answer: Answer, _ id: CommandID) {
    guard case .success(let json) = answer else { return signInFailed(answer.error ?? .badAnswer, id) }
    signedIn(json, id)
  }

  // MARK: Registration

  mutating func register(username: ByteString, password: ByteString, token: ByteString?, _ id: CommandID) {
    guard sessionState == .signedOut else { return finish(id, .failed(.notSignedIn)) }
    signIn.needsRegistrationToken = false
    registering = Registering(username: username, password: password, token: token.flatMap { $0.isEmpty ? nil : $0 })
    setSessionState(.signingIn)
    requestRegistration(auth: nil, id)
  }

  private mutating func requestRegistration(auth: (stage: ByteString, session: ByteString)?, _ id: CommandID) {
    guard let registering else { return }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("username", registering.username)
      writer.member("password", registering.password)
      writer.member("initial_device_display_name", deviceDisplayName)
      guard let auth else { return }
      writer.key("auth")
      writer.object { writer in
        writer.member("type", auth.stage)
        writer.member("session", auth.session)
        if auth.stage == RegistrationFlows.token, let token = registering.token { writer.member("token", token) }
      }
    }
    request(.register, Endpoint.register.path(), body: writer.bytes, for: .register(id))
  }

  /// Spec: "User-interactive authentication": 401 with flows asks for the next stage.
  mutating func registerAnswered(_ answer: Answer, _ id: CommandID) {
    guard let current = registering else { return }
    switch answer {
    case .success(let json):
      registering = nil
      signedIn(json, id)
    case .refused(let error, .some(let body)) where error.status == 401 && body["flows"] != nil:
      let flows = RegistrationFlows(body)
      switch flows.nextStage(hasToken: current.token != nil) {
      case .needsToken:
        signIn.needsRegistrationToken = true
        signInFailed(.registrationTokenNeeded, id)
      case .unsupported: signInFailed(.unsupportedFlow, id)
      case .stage(let stage):
        guard current.triedStage != stage, let session = body["session"]?.text else {
          if stage == RegistrationFlows.token { signIn.needsRegistrationToken = true }
          return signInFailed(answer.error ?? .badAnswer, id)
        }
        registering?.triedStage = stage
        requestRegistration(auth: (stage, session), id)
      }
    default: signInFailed(answer.error ?? .badAnswer, id)
    }
  }

  // MARK: Ends

  private mutating func signInFailed(_ error: ClientError, _ id: CommandID) {
    registering = nil
    signIn.error = error
    setSessionState(session == nil ? .signedOut : .softLoggedOut)
    finish(id, .failed(error))
  }

  private mutating func signedIn(_ json: JSON, _ id: CommandID) {
    guard let user = UserID(json["user_id"]), let device = DeviceID(json["device_id"]),
      let token = json["access_token"]?.text
    else { return signInFailed(.badAnswer, id) }
    // Also what no login told whose it is.
    if session?.userID != user { forgetData() }
    let session = Session(userID: user, deviceID: device, accessToken: token)
    self.session = session
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

/// The flows of a registration that wait in a 401. Spec: "User-interactive API in the REST API".
struct RegistrationFlows: Sendable {
  static let dummy: ByteString = "m.login.dummy"
  static let token: ByteString = "m.login.registration_token"

  enum Next: Sendable {
    case stage(ByteString)
    case needsToken
    case unsupported
  }

  private var flows: [[ByteString]] = []
  private var completed: [ByteString] = []

  init(_ body: JSON) {
    if let listed = body["flows"] {
      for flow in listed.elements { flows.append(flow["stages"]?.elements.map { $0.text ?? "" } ?? []) }
    }
    completed = body["completed"]?.elements.compactMap { $0.text } ?? []
  }

  var isOpen: Bool { flows.contains { $0.allSatisfy { $0 == Self.dummy } } }
  var isOpenWithToken: Bool { flows.contains { $0.allSatisfy(Self.isSupported) } }

  func nextStage(hasToken: Bool) -> Next {
    let usable = flows.filter { $0.allSatisfy(Self.isSupported) }
    guard !usable.isEmpty else { return .unsupported }
    let wanted = hasToken ? usable : usable.filter { !$0.contains(Self.token) }
    let flow = (hasToken ? wanted.first { $0.contains(Self.token) } : nil) ?? wanted.first
    guard let flow else { return .needsToken }
    guard let stage = flow.first(where: { !completed.contains($0) }) else { return .unsupported }
    return .stage(stage)
  }

  private static func isSupported(_ stage: ByteString) -> Bool { stage == dummy || stage == token }
}
