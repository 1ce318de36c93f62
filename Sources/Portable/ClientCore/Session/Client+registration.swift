import JSON
import MatrixModel

/// A registration between two stages.
struct Registering: Sendable {
  var username: ByteString
  var password: ByteString
  var token: ByteString?
  /// What the server wants before it goes on.
  var needed: InteractiveAuthentication?
  /// The stage that this client last went through by itself; the same stage twice means that it failed.
  var triedStage: ByteString?
}

extension Client {
  mutating func register(username: ByteString, password: ByteString, token: ByteString?, _ id: CommandID) {
    guard sessionState == .signedOut else { return finish(id, .failed(signInRefusal)) }
    signIn.needsRegistrationToken = false
    let token = token.flatMap { $0.isEmpty ? nil : $0 }
    registering = Registering(username: username, password: password, token: token)
    let stage = firstStage(token)
    registering?.triedStage = stage?.type
    requestRegistration(stage, id)
  }

  /// The stage that goes out with the first request; nil if the server has to say first what it wants.
  private func firstStage(_ token: ByteString?) -> AuthenticationStage? {
    // A server that lets in only people with an invite link asks nobody for the token, but takes it.
    if let token { return signIn.registration == .closed || isRegistrationTold ? .registrationToken(token) : nil }
    return signIn.registration == .open && isRegistrationTold ? .dummy : nil
  }

  /// Such a server takes the one stage that it wants without a session.
  private var isRegistrationTold: Bool { signIn.flows?.registration != nil }

  mutating func continueRegistration(_ stage: AuthenticationStage, _ id: CommandID) {
    guard sessionState == .signedOut, registering?.needed != nil else { return finish(id, .failed(.unsupportedFlow)) }
    registering?.triedStage = nil
    requestRegistration(stage, id)
  }

  mutating func registerGuest(_ id: CommandID) {
    guard sessionState == .signedOut else { return finish(id, .failed(signInRefusal)) }
    registering = nil
    setSessionState(.signingIn)
    let body = JSONWriter.object { $0.member("initial_device_display_name", deviceDisplayName) }
    request(.register, Endpoint.register.path(), query: "?kind=guest", body: body, for: .logIn(id))
  }

  private mutating func requestRegistration(_ stage: AuthenticationStage?, _ id: CommandID) {
    guard let registering else { return }
    let body = JSONWriter.object { writer in
      writer.member("username", registering.username)
      writer.member("password", registering.password)
      writer.member("initial_device_display_name", deviceDisplayName)
      writer.member("refresh_token", true)
      if let stage { writer.member("auth", raw: stage.body(session: registering.needed?.session)) }
    }
    setSessionState(.signingIn)
    request(.register, Endpoint.register.path(), body: body, for: .register(id))
  }

  /// Spec: "User-interactive authentication": 401 with flows asks for the next stage.
  mutating func registerAnswered(_ answer: Answer, _ id: CommandID) {
    guard let current = registering else { return }
    switch answer {
    case .success(let json): signedIn(json, id)
    case .refused(let error, .some(let body)) where error.status == 401:
      guard let needed = InteractiveAuthentication(body) else { return registrationFailed(answer.error ?? .badAnswer, id) }
      registering?.needed = needed
      switch needed.nextOwnStage(token: current.token) {
      case .needsToken:
        signIn.needsRegistrationToken = true
        registrationFailed(.registrationTokenNeeded, id)
      case .needsPerson:
        // What was done so far stays: `continueRegistration` goes on from here.
        signInFailed(.authenticationNeeded(needed), id)
      case .stage(let stage):
        guard current.triedStage != stage.type else {
          if case .registrationToken = stage { signIn.needsRegistrationToken = true }
          return registrationFailed(answer.error ?? .badAnswer, id)
        }
        registering?.triedStage = stage.type
        requestRegistration(stage, id)
      }
    default: registrationFailed(answer.error ?? .badAnswer, id)
    }
  }

  private mutating func registrationFailed(_ error: ClientError, _ id: CommandID) {
    registering = nil
    signInFailed(error, id)
  }
}

/// What a registration can do by itself: say yes, and give a registration token.
extension InteractiveAuthentication {
  enum Next: Sendable {
    case stage(AuthenticationStage)
    case needsToken
    case needsPerson
  }

  var isOpen: Bool { flows.contains { $0.allSatisfy { $0 == AuthenticationStage.dummyType } } }
  var isOpenWithToken: Bool { flows.contains { $0.allSatisfy(Self.isOwn) } }

  func nextOwnStage(token: ByteString?) -> Next {
    let open = flows.map { $0.filter { !completed.contains($0) } }.filter { !$0.isEmpty && $0.allSatisfy(Self.isOwn) }
    guard !open.isEmpty else { return .needsPerson }
    let needsToken: ([ByteString]) -> Bool = { $0.contains(AuthenticationStage.registrationTokenType) }
    guard let flow = (token == nil ? nil : open.first(where: needsToken)) ?? open.first(where: { !needsToken($0) }) else {
      return .needsToken
    }
    guard let token, flow[0] == AuthenticationStage.registrationTokenType else { return .stage(.dummy) }
    return .stage(.registrationToken(token))
  }

  private static func isOwn(_ stage: ByteString) -> Bool {
    stage == AuthenticationStage.dummyType || stage == AuthenticationStage.registrationTokenType
  }
}
