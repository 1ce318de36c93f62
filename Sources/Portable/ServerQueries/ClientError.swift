import JSON
import MatrixModel

/// Why something did not happen.
public indirect enum ClientError: Error, Sendable {
  /// No answer from the server.
  case network
  /// The server refused it.
  /// - retryAfterMilliseconds: how long to wait, where it said so. Spec: "Rate limiting".
  case refused(status: Int, code: ErrorCode, message: ByteString, retryAfterMilliseconds: Int64? = nil)
  /// The server wants to be surer of who asks. Spec: "User-interactive authentication API".
  case authenticationNeeded(InteractiveAuthentication)
  /// The file is larger than the server takes.
  case tooLarge(limitBytes: Int64)
  /// No homeserver was found there.
  case noHomeserver(DiscoveryError)
  /// The server's certificate is not trusted.
  case untrustedServer
  /// The caller no longer waits for the result.
  case cancelled
  /// The answer was not what the spec says.
  case badAnswer
  /// Not `@localpart:server`.
  case invalidUserID
  /// Neither a room ID nor an alias.
  case invalidRoomAddress
  /// A user cannot chat with themselves.
  case ownUserID
  case unknownRoom
  case notSignedIn
  /// As that user: log out first, or use another store.
  case alreadySignedIn(UserID)
  /// The server wants a way of signing in that this client does not have.
  case unsupportedFlow
  /// The server registers only people with a token; ask for one and register again.
  case registrationTokenNeeded
  /// Too many messages wait already.
  case outboxIsFull
  /// What is kept on this device cannot be read; nothing was asked.
  case storeUnavailable(reason: ByteString)
  /// The file of an attachment is no longer there.
  case attachmentIsGone
  /// An encrypted file is not the one that its sender encrypted, or its keys are no keys. Nothing of it is shown.
  case damagedAttachment

  // Sending
  /// What it speaks of could not be sent; it is tried again together with that.
  case targetFailed
  /// The event is not known here, nor on its way.
  case unknownEvent
  /// One may not do that in this room.
  case notAllowed
  /// The room is encrypted and this cannot be: anything in a room with an unknown algorithm, or anything where the host does not encrypt.
  /// No clear text is sent there; reactions, redactions and state are. What was waiting when the room became encrypted stays as failed.
  case encryptedRoom
  /// The content is not what its kind asks for, or has keys of an encrypted file and the room is not encrypted.
  case invalidContent
  /// The user's keys have changed and that was not accepted yet. With the own user's ID: this device is to be verified first. Nothing was encrypted.
  case unconfirmedIdentity(UserID)
}
