import Encryption
public import MatrixModel

/// What views show of the encryption of an account.
public struct EncryptionStatus: Equatable, Sendable {
  public enum Backup: Equatable, Sendable {
    case off
    /// - waiting: the number of keys that are not in the backup yet; at least 1 until it is known.
    case on(waiting: Int)
    /// Another device has made another backup. The user decides which is used.
    case replaced
    /// The backup is gone from the server.
    case deleted
  }

  /// The keys that were fetched from the backup so far, and all that are fetched; zeros until that is known.
  public struct Progress: Equatable, Sendable {
    public let done: Int
    public let count: Int
  }

  /// Whether the account has cross-signing keys.
  public var hasIdentity = false
  /// Whether this device is verified: it has proven the account's keys, and they have signed it.
  public var isVerified = false
  public var backup = Backup.off
  /// nil if no backup is restored.
  public var restore: Progress?

  init() {}

  init(_ state: EncryptionState) {
    hasIdentity = state.hasIdentity
    isVerified = state.isVerified
    switch state.backup {
    case .off: backup = .off
    case .on(let waiting): backup = .on(waiting: waiting)
    case .stopped(.replaced): backup = .replaced
    case .stopped(.deleted): backup = .deleted
    }
    restore = state.restore.map { Progress(done: $0.done, count: $0.count) }
  }
}

/// What the account's recovery is good for.
public enum RecoveryState: Equatable, Sendable {
  /// There is no recovery key.
  case disabled
  case enabled
  /// The recovery key does not open all that it should: set it up again.
  case incomplete
  /// Another recovery key was set up since this device used one.
  case changed
}

/// Whom keys of rooms are for.
public enum EncryptionReaders: Equatable, Sendable {
  /// Devices that their users have signed, and all devices of users who sign none, such as bots.
  case signedIfAny
  /// Only devices that their users have signed.
  case signed
  /// Only signed devices of users whom this user has verified.
  case verified
  /// All devices, also those that the server may have made up.
  case all
}

/// A user whose cross-signing keys are not those that were known.
public struct ChangedIdentity: Sendable {
  public let user: UserID
  /// Whether the user was verified before.
  public let wasVerified: Bool
  let master: [UInt8]
}

/// Why something about the encryption of an account did not happen.
public enum EncryptionError: Error, Sendable {
  /// Also `authenticationNeeded`, if the server wants the user to authenticate.
  case client(ClientError)
  /// The client has no encryption, or its device is broken.
  case unavailable
  /// The recovery key or passphrase is another one, or is mistyped.
  case wrongRecoveryKey
  /// There is no recovery key, or it does not have the account's cross-signing keys.
  case noRecovery
  /// This device has to be verified first.
  case unverified
  /// The account has no backup that can be used.
  case noBackup
  /// There is no direct room with the user.
  case noRoom

  /// Describes the error and what the user can do about it.
  public var english: String {
    switch self {
    case .client(let error): error.english
    case .unavailable: "This client has no encryption, or has lost its keys. Log in again."
    case .wrongRecoveryKey: "This is not the account's recovery key or passphrase."
    case .noRecovery:
      "The account has no recovery, or its recovery key does not open its identity. Set it up on another device."
    case .unverified: "This device is not verified. Recover the account first, or reset its identity."
    case .noBackup: "The account has no backup of its keys."
    case .noRoom: "There is no direct chat with that user. Begin one first."
    }
  }
}
