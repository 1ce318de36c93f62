public import ClientCore
import JSON
import MatrixModel

#if canImport(Darwin)
  public import Foundation

  extension ClientError: LocalizedError {
    public var errorDescription: String? { english }
  }

  extension StoreError: LocalizedError {
    public var errorDescription: String? { description }
  }
#endif

extension ClientError {
  /// Describes the error and what the user can do about it, in one or two sentences. Contains no secrets.
  public var english: String {
    switch self {
    case .network: "The server does not answer. Check the connection and try again."
    case .refused(let status, let code, let message, let wait): ClientError.refused(status, code, message, wait)
    case .authenticationNeeded: "The server wants to be surer of who asks: say it again with an Authenticator."
    case .tooLarge(let limit): "The file is larger than the \(limit) bytes that it may have."
    case .noHomeserver(let error): error.english
    case .untrustedServer: "The server's certificate is not trusted; nothing was sent."
    case .cancelled: "Whoever asked has stopped waiting, or the client has been stopped."
    case .badAnswer: "The server's answer makes no sense; perhaps it is no Matrix homeserver."
    case .invalidUserID: "This is no user ID: it is written @name:server."
    case .invalidRoomAddress: "This is no room: it is written !id or #alias:server."
    case .ownUserID: "One cannot chat with oneself."
    case .unknownRoom: "One is not in this room, or it is not known yet."
    case .notSignedIn: "Nobody is signed in, or the session has ended: log in (again)."
    case .alreadySignedIn(let user): "\(user) is signed in: log out first, or use another store."
    case .unsupportedFlow: "The server wants a way of signing in that this client does not have."
    case .registrationTokenNeeded: "The server registers only people with a token: ask for one and register again."
    case .outboxIsFull: "Too many messages wait to be sent: wait until some are gone."
    case .storeUnavailable(let reason): "What is kept on this device cannot be read: \(reason)."
    case .attachmentIsGone: "The file is not there, or cannot be read."
    default: sendingEnglish
    }
  }

  private var sendingEnglish: String {
    switch self {
    case .targetFailed: "It waits for a message that could not be sent: try that one again, or cancel it."
    case .unknownEvent: "The message is not known here."
    case .notAllowed: "One may not do that in this room."
    case .invalidContent: "There is nothing to send, or its content is not what its kind asks for."
    default: "It did not happen."
    }
  }

  private static func refused(_ status: Int, _ code: ErrorCode, _ message: ByteString, _ wait: Int64?) -> String {
    var text = message.isEmpty ? "The server refuses it." : "The server refuses it: \(message)"
    text += " (\(code), \(status))"
    if let wait { text += " Try again in \(max(1, wait / 1_000)) s." }
    return text
  }
}

extension DiscoveryError {
  /// Describes the error and what the user can do about it.
  public var english: String {
    switch self {
    case .invalidAddress: "This is no homeserver: it is written https://host, or as a server name or a user ID."
    case .ignore: "No homeserver is announced under this name, and none is there: use its URL."
    case .failPrompt(let problem): "No homeserver was found under this name (\(problem.english)): check it, or use its URL."
    case .failError(let problem): "What is announced under this name is no homeserver (\(problem.english)): ask who runs it."
    }
  }
}

extension DiscoveryError.Problem {
  fileprivate var english: String {
    switch self {
    case .noAnswer: "no answer"
    case .status(let status): "HTTP status \(status)"
    case .notJSON: "the answer is no JSON"
    case .noHomeserver: "the answer names none"
    case .noIdentityServer: "the answer names no identity server"
    case .invalidHomeserver: "what it names is none"
    case .invalidIdentityServer: "what it names as the identity server is none"
    }
  }
}
