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
  public var dehydratedDevice = DehydratedDevice.none
  /// Why the device that was there before could not be read, or not all of it. Another one took its place.
  public var dehydratedDeviceError: DehydratedDeviceError?

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
    switch state.dehydration {
    case .none: dehydratedDevice = .none
    case .reading(let messages, let keys): dehydratedDevice = .reading(messages: messages, keys: keys)
    case .ready(let keys): dehydratedDevice = .ready(keys: keys)
    }
    dehydratedDeviceError = state.dehydrationFailure.map { DehydratedDeviceError($0) }
  }
}

/// The device without a client that gets the keys of messages while the user is signed out everywhere. Others see it in the list of the user's devices.
/// Source: MSC3814.
public enum DehydratedDevice: Equatable, Sendable {
  /// This client keeps none: the account has no recovery key, this device is not verified, or the server does not know such devices.
  case none
  /// What came to it is read: so many messages until now, with so many keys.
  case reading(messages: Int, keys: Int)
  /// The server has one. That before has brought so many keys since this client began.
  case ready(keys: Int)
}

/// Why the messages of a dehydrated device could not be read.
public enum DehydratedDeviceError: Error, Equatable, Sendable {
  /// The account's key does not open it, or the server has changed it.
  case wrongKey
  /// What the server gives is not a device.
  case malformed
  /// A newer client has made it. It stays where it is.
  case unknownFormat
  /// It got more than 50,000 messages. The first ones were read.
  case tooManyMessages

  init(_ failure: RehydrationFailure) {
    switch failure {
    case .wrongKey: self = .wrongKey
    case .malformed: self = .malformed
    case .unknownFormat: self = .unknownFormat
    case .tooManyMessages: self = .tooManyMessages
    }
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

/// The moment at which this device saw other cross-signing keys of a user than before. A timeline may tell of it between its messages.
public struct IdentityChange: Equatable, Sendable {
  public let user: UserID
  /// Milliseconds since 1970, by this device's clock.
  public let timestampMilliseconds: Int64
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
