import JSON
import MatrixModel

/// Why an event cannot be read.
package enum Undecryptable: Error, Hashable, Sendable {
  /// There is no key of that sender yet, or none that reaches back so far.
  case missingKey
  /// The sender says that this device does not get the key.
  case withheld(WithheldCode)
  /// It was sent while the user was not in the room.
  case beforeJoining
  /// It is older than this device, which could get the key from a backup only.
  case historyUnavailable(HistoryObstacle)
  /// It can be read, but the policy hides what devices say that their users have not signed.
  case unsignedDevice
  /// It can be read, but the policy hides what users say whose keys have changed.
  case identityChanged
  case unknownAlgorithm
  /// Another event had the same ciphertext.
  case replayed
  /// It was written for another room.
  case ofAnotherRoom
  case damaged

  /// What this device lacks.
  package enum HistoryObstacle: Hashable, Sendable {
    /// The account has no backup that this device reads.
    case noBackup
    /// The recovery key or another device would open it.
    case unverifiedDevice
  }

  /// As the mark of an event has it. `UndecryptableReason` reads it.
  package var name: ByteString {
    switch self {
    case .missingKey: "waiting"
    case .withheld(let code): code.text
    case .beforeJoining: "before_joining"
    case .historyUnavailable(.noBackup): "no_backup"
    case .historyUnavailable(.unverifiedDevice): "unverified_device"
    case .unsignedDevice: "unsigned_device"
    case .identityChanged: "identity_changed"
    case .replayed: "replayed"
    case .unknownAlgorithm, .ofAnotherRoom, .damaged: "damaged"
    }
  }

  /// Whether a key that comes later may help.
  var lacksKey: Bool {
    switch self {
    case .missingKey, .withheld, .beforeJoining, .historyUnavailable: true
    case .unsignedDevice, .identityChanged, .unknownAlgorithm, .replayed, .ofAnotherRoom, .damaged: false
    }
  }

  /// Whether the reason may be another one once more is known of devices, identities or the backup.
  var dependsOnTrust: Bool {
    switch self {
    case .historyUnavailable, .unsignedDevice, .identityChanged: true
    case .missingKey, .withheld, .beforeJoining, .unknownAlgorithm, .replayed, .ofAnotherRoom, .damaged: false
    }
  }
}
