import JSON

/// The uses of a user's three cross-signing keys. Spec: Client-Server API, "Cross-signing".
package enum CrossSigningUse: UInt8, CaseIterable, Sendable {
  /// Names the user and signs the two other keys.
  case master = 1
  /// Signs the user's own devices.
  case selfSigning
  /// Signs the master keys of other users.
  case userSigning

  /// The only entry of `usage`.
  var text: ByteString {
    switch self {
    case .master: "master"
    case .selfSigning: "self_signing"
    case .userSigning: "user_signing"
    }
  }
}
