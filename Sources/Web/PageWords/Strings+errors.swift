import ClientCore
import JSON
import MatrixModel
import PageWidgets

/// Why something did not happen, in words that say what to do.
extension Strings {
  package static func words(for error: ClientError) -> String {
    switch error {
    case .network: self[.serverSilent]
    case .refused(let status, let code, let message, _): refused(status, code, message)
    case .badAnswer: self[.answerSenseless]
    case .invalidUserID: self[.userIDWrong]
    case .invalidRoomAddress: self[.roomAddressWrong]
    case .ownUserID: self[.ownUserID]
    case .unknownRoom: self[.left]
    case .notSignedIn: self[.notSignedIn]
    case .tooLarge: self[.tooLarge]
    case .noHomeserver: self[.noHomeserver]
    case .untrustedServer: self[.serverUntrusted]
    // The page never asks a signed-in user to sign in.
    case .cancelled, .alreadySignedIn: self[.stopped]
    case .unsupportedFlow, .authenticationNeeded: self[.registrationUnsupported]
    case .registrationTokenNeeded: self[.tokenMissing]
    case .outboxIsFull: self[.outboxFull]
    case .targetFailed: self[.targetFailed]
    case .unknownEvent: self[.messageGone]
    case .notAllowed: self[.notAllowed]
    case .encryptedRoom: self[.encrypted]
    case .unconfirmedIdentity(let user): self[.keysChanged, user.string]
    case .invalidContent: self[.cannotBeSent]
    case .storeUnavailable: self[.storeFailed]
    case .attachmentIsGone: self[.fileGone]
    case .damagedAttachment: self[.fileDamaged]
    }
  }

  /// At the sign-in form some codes mean something nearer.
  package static func wordsAtSignIn(for error: ClientError) -> String {
    guard case .refused(_, let code, _, _) = error else { return words(for: error) }
    return code == .forbidden ? self[.signInWrong] : words(for: error)
  }

  /// Where it is about a mail some codes mean something nearer. Spec: Client-Server API, `…/email/requestToken`; "Email-based
  /// (identity / homeserver)".
  package static func wordsOfMail(for error: ClientError) -> String {
    switch error {
    case .authenticationNeeded: return self[.mailNotFollowed]
    case .refused(_, let code, _, _):
      if code == "M_THREEPID_AUTH_FAILED" { return self[.mailNotFollowed] }
      if code == "M_THREEPID_NOT_FOUND" { return self[.emailUnknown] }
      if code == "M_THREEPID_IN_USE" { return self[.emailTaken] }
      if code == "M_THREEPID_MEDIUM_NOT_SUPPORTED" || code == .unrecognized { return self[.noMailHere] }
    default: break
    }
    return words(for: error)
  }

  /// Whether a registration was refused at the stage of the token. Spec: "User-interactive authentication": 401 where a stage
  /// fails.
  package static func isAboutToken(_ error: ClientError) -> Bool {
    guard case .refused(401, _, _, _) = error else { return false }
    return true
  }

  private static func refused(_ status: Int, _ code: ErrorCode, _ message: ByteString) -> String {
    switch code {
    case .userInUse: self[.userNameTaken]
    case .invalidUsername: self[.userNameWrong]
    case .exclusive: self[.nameReserved]
    case .userDeactivated: self[.accountClosed]
    case .userLocked, .userSuspended: self[.accountLocked]
    case .limitExceeded: self[.tooManyTries]
    case .tooLarge: self[.tooLarge]
    case .roomInUse: self[.roomAddressTaken]
    case .notFound: self[.notKnown]
    // The server's words are of its rules, and in one language.
    case .forbidden: message.isEmpty ? self[.notAllowed] : self[.notAllowed] + " (" + message.string + ")"
    default: said(message, or: status >= 500 ? .serverInTrouble : .refused)
    }
  }

  private static func said(_ message: ByteString, or key: Key) -> String {
    message.isEmpty ? self[key] : message.string
  }
}
