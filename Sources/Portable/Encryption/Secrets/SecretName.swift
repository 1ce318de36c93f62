import JSON

/// The secrets that the user's devices share, and that secret storage keeps. Spec: Client-Server API, "Secrets".
package enum SecretName: UInt8, CaseIterable, Sendable {
  case masterKey = 1, selfSigningKey, userSigningKey
  /// The private key of the backup.
  case backupKey
  /// Opens the dehydrated device. An account may be without.
  case dehydrationKey

  /// Those that the recovery of an account needs.
  package static let required: [SecretName] = [.masterKey, .selfSigningKey, .userSigningKey, .backupKey]

  /// The type of the account data, and the name in requests.
  package var text: ByteString {
    switch self {
    case .masterKey: "m.cross_signing.master"
    case .selfSigningKey: "m.cross_signing.self_signing"
    case .userSigningKey: "m.cross_signing.user_signing"
    case .backupKey: "m.megolm_backup.v1"
    case .dehydrationKey: "org.matrix.msc3814"
    }
  }

  package init?(_ text: ByteString) {
    guard let name = Self.allCases.first(where: { $0.text == text }) else { return nil }
    self = name
  }

  /// nil for what is no key of cross-signing.
  package var use: CrossSigningUse? {
    switch self {
    case .masterKey: .master
    case .selfSigningKey: .selfSigning
    case .userSigningKey: .userSigning
    case .backupKey, .dehydrationKey: nil
    }
  }
}
