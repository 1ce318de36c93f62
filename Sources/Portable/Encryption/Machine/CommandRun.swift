import JSON
import MatrixModel
import Olm

/// A command that asks the server several things, one after the other. It is in memory only: what a crash leaves is consistent, and the command is
/// given again.
struct CommandRun: Sendable {
  enum Kind: Sendable {
    case setUp(RecoverySetup)
    case inspect(RecoveryInspection)
    case recover(Recovery)
    case deleteBackup(ByteString)
  }

  let number: UInt64
  var kind: Kind
}

/// A request of a run, of a backup or of a set-up.
struct Ask: Sendable {
  let endpoint: Endpoint
  var parameters: [ByteString] = []
  /// Of the backup.
  var version: ByteString?
  var body: [UInt8] = []

  init(_ endpoint: Endpoint, _ parameters: [ByteString] = [], version: ByteString? = nil, body: [UInt8] = []) {
    self.endpoint = endpoint
    self.parameters = parameters
    self.version = version
    self.body = body
  }

  static func accountData(_ type: ByteString, of user: UserID) -> Ask { Ask(.getAccountData, [user.text, type]) }
}

/// Writes secret storage. The key becomes the default last: until then the storage before is what others find.
struct RecoverySetup: Sendable {
  let secret: Secret
  let description: StorageKeyDescription
  /// Of the backup that is made for it.
  var pair: Curve25519KeyPair?
  /// Account data that is not written yet, the next one first.
  var content: [(type: ByteString, content: [UInt8])] = []
  /// Of the dehydrated device, if there is to be one.
  var dehydrationKey: Secret?
}

/// Reads what account data says, without the secrets.
struct RecoveryInspection: Sendable {
  var id: ByteString?
  var key: StorageKeyDescription?
  var missing: [SecretName] = []
  /// Those to look for, the next one first.
  var names = SecretName.required
}

/// Reads the secrets.
struct Recovery: Sendable {
  let key: StorageKey
  /// Those to read, the next one first.
  var names = SecretName.allCases
  var secrets: [SecretName: Secret] = [:]
  /// For the dehydrated device of an account that had none, and its account data that is not written yet.
  var newKey: (secret: Secret, content: [UInt8])?
  /// Whether the own list of devices and keys is as new as the command.
  var knowsOwnKeys = false
}
