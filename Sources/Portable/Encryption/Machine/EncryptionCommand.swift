import JSON
import MatrixModel
import Olm

/// Something the user wants that takes several steps. Each ends with `MachineResult.ended` of its number.
package enum EncryptionCommand: Sendable {
  /// Makes cross-signing keys if the account has none, and signs this device.
  case setUpIdentity
  /// Makes others in place of those that there are. People who have verified the user see that.
  case resetIdentity
  /// Makes a backup unless one is in use, and puts its key and the cross-signing keys into secret storage under this key. This device holds them.
  ///
  /// - passphrase: how the key was derived, if it was.
  case setUpRecovery(Secret, passphrase: PassphraseKey?)
  /// Ends with `EncryptionOutcome.recovery`.
  case inspectRecovery
  /// Opens secret storage: this device is verified and signed then, and reads the backup.
  case recover(StorageKeyDescription, Secret)
  /// Fetches all keys of the backup.
  case restoreBackup
  /// Deletes the backup at the server.
  case deleteBackup
  /// Tells the signed devices of somebody who is to be invited where a `RoomKeyBundle` lies, as an `EncryptedFile`. Fails with `unverified` if there
  /// are none.
  case shareHistory(RoomID, with: UserID, file: JSON)
  /// Sends an event of the app to devices, encrypted for each: to those of them that may have keys of rooms (`SharingPolicy`). Ends with
  /// `EncryptionOutcome.told`, or `unusable` for types that are the machine's own, and beyond `EncryptionLimits`.
  case tell(type: ByteString, content: JSON, devices: [DeviceAddress])
  /// Asks the other devices of the user at once for all keys that messages of the room lack, also if they were asked before. Fails with `unverified`
  /// if there is no verified one, or this device is not.
  case askForKeys(of: RoomID)
  /// Begins a verification. Ends with `EncryptionOutcome.verification`; what happens then is in `EncryptionHost.verifications`.
  case verify(VerificationTarget)
  case verification(Verification.ID, VerificationStep)
  /// What the client can do with QR codes: later verifications offer that. All of it until this is said.
  case offer(showsCodes: Bool, scansCodes: Bool)
  /// Asks for the keys of a user if they may have changed. Ends with `EncryptionOutcome.trust`.
  case inspectUser(UserID)
}

package enum EncryptionOutcome: Sendable {
  case done
  case verification(Verification.ID)
  case trust(UserTrust)
  case recovery(RecoveryDescription)
  /// The devices that were sent what `EncryptionCommand.tell` said.
  case told([DeviceAddress])
  case failed(EncryptionFailure)
}

/// What the account data says of secret storage.
package struct RecoveryDescription: Equatable, Sendable {
  /// nil if there is no key, or one that cannot be used here.
  package let key: StorageKeyDescription?
  /// Secrets that are not stored under the key.
  package let missing: [SecretName]
  /// Whether the key is the one that was used here last. If not, the server may have put another in its place.
  package let isFamiliar: Bool
}

package enum EncryptionFailure: Error, Equatable, Sendable {
  /// The server said no.
  case refused
  /// There was no answer.
  case unreachable
  /// This device does not hold the cross-signing keys: it is not verified.
  case unverified
  /// The recovery key or passphrase is another one.
  case wrongKey
  /// Secret storage does not have the account's cross-signing keys, or has old ones.
  case incomplete
  /// The server has no backup, or one that cannot be trusted.
  case noBackup
  /// What the server says cannot be used, or what the user does is not possible now.
  case unusable
}

/// What views show of the account's encryption.
package struct EncryptionState: Equatable, Sendable {
  package enum Backup: Equatable, Sendable {
    case off
    /// With so many sessions that are not in it yet; at least one until it is known.
    case on(waiting: Int)
    case stopped(KeyBackup.Stop)
  }

  /// Keys of the backup that are here, of how many; zero of zero until that is known.
  package struct Progress: Equatable, Sendable {
    package let done: Int
    package let count: Int
  }

  package enum Dehydration: Equatable, Sendable {
    /// This client keeps none.
    case none
    /// So many messages of the one that the user left behind are read, with so many keys of rooms.
    case reading(messages: Int, keys: Int)
    /// The server has one; the one before brought so many keys since the start.
    case ready(keys: Int)
  }

  /// Whether the account has cross-signing keys.
  package var hasIdentity = false
  /// Whether this device has proven the account's cross-signing keys, and they have signed it.
  package var isVerified = false
  package var backup = Backup.off
  /// nil if nothing is restored.
  package var restore: Progress?
  package var dehydration = Dehydration.none
  /// Why the dehydrated device before could not be read, or not all of it.
  package var dehydrationFailure: RehydrationFailure?

  package init() {}
}
