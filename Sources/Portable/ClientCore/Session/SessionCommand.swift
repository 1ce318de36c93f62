import JSON
import MatrixModel

/// Signing in and out. `SignIn` and `Client.sessionState` show how far it is.
public enum SessionCommand: Sendable {
  /// Asks the server for its ways to sign in, and for those to register if it tells them without a try; `SignIn` then has them.
  case loadFlows
  /// Finds out how to register if that is `unknown`, by a registration that the server refuses.
  case loadRegistration
  /// - deviceID: the device to continue; nil for a new one, or after a soft logout for the previous one.
  case logIn(Login, deviceID: DeviceID? = nil)
  /// `token` is used if the server asks for a registration token; without one `SignIn.needsRegistrationToken` becomes true.
  /// Ends with `authenticationNeeded` at a stage that only a person can complete; `continueRegistration` goes on from there.
  case register(username: ByteString, password: ByteString, token: ByteString?)
  /// The next stage of the registration that ended with `authenticationNeeded`.
  case continueRegistration(AuthenticationStage)
  /// An account without a name or password. Spec: "Guest Access".
  case registerGuest
  /// Continues a session that was started elsewhere.
  case restore(Session)
  case logOut
  /// Ends the sessions of all devices.
  case logOutEverywhere
}

extension SessionCommand {
  /// `user` is a localpart or a whole user ID.
  public static func logIn(user: ByteString, password: ByteString) -> SessionCommand {
    .logIn(.password(password, user: .user(user)))
  }

  var needsSession: Bool {
    switch self {
    case .loadFlows, .loadRegistration, .logIn, .register, .continueRegistration, .registerGuest, .restore: false
    case .logOut, .logOutEverywhere: true
    }
  }
}

extension Client {
  mutating func handle(_ command: SessionCommand, _ id: CommandID) {
    switch command {
    case .loadFlows: loadFlows(id)
    case .loadRegistration: loadRegistration(id)
    case .logIn(let login, let device): logIn(login, deviceID: device, id)
    case .register(let username, let password, let token):
      register(username: username, password: password, token: token, id)
    case .continueRegistration(let stage): continueRegistration(stage, id)
    case .registerGuest: registerGuest(id)
    case .restore(let session): restore(session, id)
    case .logOut: logOut(id)
    case .logOutEverywhere: logOutEverywhere(id)
    }
  }
}
