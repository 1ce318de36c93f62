import CallCore
import JSON

/// The reason why a function of a call failed, or why the call ended. Documentation/Calls.md lists the codes.
public enum CallError: Error, Sendable, Equatable {
  /// The token has expired, is not valid, or is for another session.
  case unauthorized(String)
  /// The role does not allow it.
  case forbidden
  /// The stream or connection no longer exists.
  case notFound
  /// The request or the URL is not valid.
  case invalid(String)
  case tooLarge
  /// The caller exceeded a limit.
  case limit
  /// A source cannot be opened, or the engine cannot use it.
  case media(String)
  /// A required component is not installed.
  case unsupported(String)
  /// The call has not connected yet, or it has ended.
  case notConnected
  /// The server no longer knows the connection.
  case connectionLost
  /// A moderator or the application's server ended the connection.
  case forced
  /// The session or its API key was deleted.
  case ended
  /// The connection continues elsewhere.
  case replaced
  /// The client did not read messages fast enough.
  case tooSlow
  case left
  /// The server does not answer.
  case unreachable
  /// The server sent a code that this version does not know.
  case other(String)

  init(_ refusal: CallRefusal) {
    self.init(code: refusal.code, message: refusal.message)
  }

  /// Returns the error for the reason with which a session ended.
  init(_ end: SessionEnd, of session: CallSession) {
    switch end {
    case .left: self = .left
    case .closed(let code): self.init(code: code, message: session.endMessage)
    case .unreachable: self = .unreachable
    case .mediaFailed: self = .media("no peer connection can be made of what the server says")
    }
  }

  init(code: ByteString, message: ByteString) {
    switch code {
    case "unauthorized": self = .unauthorized(message.string)
    case "forbidden": self = .forbidden
    case "not_found": self = .notFound
    case "invalid": self = .invalid(message.string)
    case "too_large": self = .tooLarge
    case "limit": self = .limit
    case "media_failed": self = .media(message.string)
    case "connection_lost": self = .connectionLost
    case "forced": self = .forced
    case "ended": self = .ended
    case "replaced": self = .replaced
    case "too_slow": self = .tooSlow
    default: self = .other(code.string)
    }
  }

  /// The code, the same as in the JavaScript class.
  public var code: String {
    switch self {
    case .unauthorized: "unauthorized"
    case .forbidden: "forbidden"
    case .notFound: "not_found"
    case .invalid: "invalid"
    case .tooLarge: "too_large"
    case .limit: "limit"
    case .media: "media_failed"
    case .unsupported: "unsupported"
    case .notConnected: "not_connected"
    case .connectionLost: "connection_lost"
    case .forced: "forced"
    case .ended: "ended"
    case .replaced: "replaced"
    case .tooSlow: "too_slow"
    case .left: "left"
    case .unreachable: "unreachable"
    case .other(let code): code
    }
  }

  /// Describes the error for developers. Contains no secrets.
  public var english: String {
    switch self {
    case .unauthorized(let message):
      message.isEmpty ? "The token is expired, broken, or for another session." : message
    case .forbidden: "The role of the token does not allow it."
    case .notFound: "The stream or connection is gone."
    case .invalid(let message): message.isEmpty ? "The request makes no sense to the server." : message
    case .tooLarge: "That is too large."
    case .limit: "That is too much at once, or too many."
    case .media(let message): message.isEmpty ? "Camera, microphone or another source failed." : message
    case .unsupported(let message): message
    case .notConnected: "The call is not connected: before connect, or after its end."
    case .connectionLost: "The server had forgotten the connection; it is not known whether this was done."
    case .forced: "A moderator or the application has ended this connection."
    case .ended: "The session has ended."
    case .replaced: "The connection goes on elsewhere."
    case .tooSlow: "The connection did not keep up with what the server said."
    case .left: "The call has been left."
    case .unreachable: "No server answers."
    case .other(let code): "The server says \(code)."
    }
  }
}

extension CallError: CustomStringConvertible {
  public var description: String { "\(code): \(english)" }
}
