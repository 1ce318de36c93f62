import ClientCore
import JSON
import MatrixModel

/// Why something did not happen, in words that say what to do.
extension Strings {
  static func words(for error: ClientError) -> String {
    switch error {
    case .network: "The server does not answer. Check your connection and try again."
    case .refused(let status, let code, let message, _): refused(status, code, message)
    case .badAnswer: "The server gave an answer that makes no sense. Try again later."
    case .invalidUserID: "This is not a user ID. Write it like @alice:example.org."
    case .invalidRoomAddress: "This is not a room address. Write it like #garden:example.org."
    case .ownUserID: "That is you. Write the user ID of someone else."
    case .unknownRoom: "You are not in this room any more."
    case .notSignedIn: "You are not signed in any more."
    case .alreadySignedIn: "You are signed in already."
    case .tooLarge: "This is too large for the server."
    case .noHomeserver: "There is no Matrix server at this address."
    case .untrustedServer: "The certificate of the server is not trusted."
    case .cancelled: "This was stopped."
    case .unsupportedFlow, .authenticationNeeded: registrationUnsupported
    case .registrationTokenNeeded: tokenMissing
    case .outboxIsFull: "Too many messages wait to be sent. Wait until some are gone."
    case .targetFailed: "It waits for a message that could not be sent."
    case .unknownEvent: "The message is not here any more."
    case .notAllowed: "You are not allowed to do this."
    case .invalidContent: "This cannot be sent as it is."
    case .attachmentIsGone: "The file is not here any more. Choose it again."
    }
  }

  /// At the sign-in form some codes mean something nearer.
  static func wordsAtSignIn(for error: ClientError) -> String {
    guard case .refused(_, let code, _, _) = error else { return words(for: error) }
    return code == .forbidden ? "The user name or the password is wrong." : words(for: error)
  }

  /// Whether a registration was refused at the stage of the token. Spec: "User-interactive authentication": 401 where a stage
  /// fails.
  static func isAboutToken(_ error: ClientError) -> Bool {
    guard case .refused(401, _, _, _) = error else { return false }
    return true
  }

  private static func refused(_ status: Int, _ code: ErrorCode, _ message: ByteString) -> String {
    switch code {
    case .userInUse: "Somebody has this user name already. Choose another one."
    case .invalidUsername: userNameWrong
    case .exclusive: "This name is reserved. Choose another one."
    case .userDeactivated: "This account was closed."
    case .userLocked, .userSuspended: "This account is locked. Ask whoever runs the server."
    case .limitExceeded: "Too many tries. Wait a little and try again."
    case .tooLarge: "This is too large for the server."
    case .roomInUse: "This room address is taken. Choose another one."
    case .notFound: "The server does not know this. Check the spelling."
    case .forbidden: said(message, or: "You are not allowed to do this.")
    default:
      said(message, or: status >= 500 ? "The server is in trouble. Try again later." : "The server refused this.")
    }
  }

  private static func said(_ message: ByteString, or words: String) -> String {
    message.isEmpty ? words : message.string
  }
}
