import JSON
import MatrixModel

/// Who is logged in.
public enum SessionState: UInt8, Sendable {
  /// The store has not answered yet.
  case loading
  case signedOut
  /// A login or registration is under way.
  case signingIn
  case signedIn
  /// The server wants the password once more; all data is still here. Spec: "Soft logout".
  case softLoggedOut
}

/// What the sign-in screen shows.
public struct SignIn: Sendable {
  public enum Registration: UInt8, Sendable {
    /// Not asked yet (`SessionCommand.loadFlows`), or not told (`SessionCommand.loadRegistration`).
    case unknown
    case open
    /// Only with a registration token.
    case withToken
    case closed
    /// Open, but only in ways this client does not have.
    case unsupported
  }

  /// nil until the server was asked.
  public internal(set) var allowsPasswordLogin: Bool?
  /// All the ways to log in; nil until the server was asked.
  public internal(set) var flows: LoginFlows?
  public internal(set) var registration = Registration.unknown
  /// A registration waits for `SessionCommand.register` with a token.
  public internal(set) var needsRegistrationToken = false
  /// Why the last try failed.
  public internal(set) var error: ClientError?
}

/// Whether the client talks with its server.
public enum ConnectionState: Sendable {
  /// Not signed in, not started, or paused.
  case idle
  /// The first sync of this run is under way.
  case connecting
  /// The server answers; of an account that is new here it has not told all rooms yet.
  case firstSync(SyncProgress)
  case running
  /// The last sync failed.
  case reconnecting(retryAtMilliseconds: Int64)
  /// The machine has no network.
  case offline
}
