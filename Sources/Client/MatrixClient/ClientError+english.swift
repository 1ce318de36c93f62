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
    case .authenticationNeeded: "The server requires authentication for this request. Repeat it with an Authenticator."
    case .tooLarge(let limit): "The file is larger than the limit of \(limit) bytes."
    case .noHomeserver(let error): error.english
    case .untrustedServer: "The server's certificate is not trusted. Nothing was sent."
    case .cancelled: "The request was cancelled, or the client was stopped."
    case .badAnswer: "The server's response is not valid. Check whether it is a Matrix homeserver."
    case .invalidUserID: "This is not a valid user ID. A user ID has the form @name:server."
    case .invalidRoomAddress: "This is not a valid room address. It has the form !id or #alias:server."
    case .ownUserID: "A user cannot have a direct chat with themselves."
    case .unknownRoom: "The user is not in this room, or the client does not know it yet."
    case .notSignedIn: "The client is not signed in, or the session has ended. Log in again."
    case .alreadySignedIn(let user): "\(user) is signed in. Log out first, or use another store."
    case .unsupportedFlow: "The server requires a login method that this client does not support."
    case .registrationTokenNeeded: "The server requires a registration token. Ask its operator for one."
    case .outboxIsFull: "Too many messages wait to be sent. Wait until some are sent."
    case .storeUnavailable(let reason): "The data on this device cannot be read: \(reason)."
    case .attachmentIsGone: "The file does not exist, or cannot be read."
    case .damagedAttachment: "The file was changed on its way, and is not shown. Ask the sender to send it again."
    default: sendingEnglish
    }
  }

  private var sendingEnglish: String {
    switch self {
    case .targetFailed: "It waits for a message that could not be sent. Retry or cancel that message."
    case .unknownEvent: "The client does not know this message."
    case .notAllowed: "The user is not allowed to do that in this room."
    case .encryptedRoom: "The room is encrypted, and this client cannot encrypt that: nothing was sent."
    case .unconfirmedIdentity(let user):
      "The keys of \(user) have changed, or this device has to be verified: nothing was sent until that is accepted."
    case .invalidContent: "The message is empty, or its content is not valid for its type."
    default: "The request failed."
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
    case .invalidAddress: "This is not a valid homeserver address. Use https://host, a server name or a user ID."
    case .ignore: "Discovery found no homeserver for this name. Use its URL."
    case .failPrompt(let problem):
      "Discovery found no homeserver for this name (\(problem.english)). Check the name, or use the URL."
    case .failError(let problem): "The homeserver that this name announces is not valid (\(problem.english)). Ask its operator."
    }
  }
}

extension DiscoveryError.Problem {
  fileprivate var english: String {
    switch self {
    case .noAnswer: "no answer"
    case .status(let status): "HTTP status \(status)"
    case .notJSON: "the response is not valid JSON"
    case .noHomeserver: "the response names no homeserver"
    case .noIdentityServer: "the response names no identity server"
    case .invalidHomeserver: "the response names a URL that is not a homeserver"
    case .invalidIdentityServer: "the response names a URL that is not an identity server"
    }
  }
}
