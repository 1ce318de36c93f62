import CPrimitives

/// How to derive a key from a passphrase: PBKDF2 with HMAC-SHA-512, slow on purpose. Spec: Client-Server API, "Key exports" and
/// "Secret storage".
///
/// In the page, `crypto.subtle` derives the same key from salt and rounds, several times faster.
package struct PassphraseKey: Equatable, Sendable {
  /// The rounds for new keys. A file may ask for up to `roundsLimit`.
  package static let rounds: UInt32 = 500_000
  package static let roundsLimit: UInt32 = 10_000_000
  package static let byteCountLimit = 64

  package let salt: [UInt8]
  package let rounds: UInt32

  package init(salt: [UInt8], rounds: UInt32) throws(OlmError) {
    guard (1...Self.roundsLimit).contains(rounds), salt.count <= MessageLimits.plaintextBytes else { throw .malformed }
    self.salt = salt
    self.rounds = rounds
  }

  package init(random: inout SecretSource) {
    salt = random.bytes(16)
    rounds = Self.rounds
  }

  /// Derives at most `byteCountLimit` bytes, in about a third of a second.
  package func derive(from passphrase: [UInt8], byteCount: Int) -> Secret {
    let count = min(max(byteCount, 0), Self.byteCountLimit)
    return Secret(count: count) {
      primitives_pbkdf2_sha512($0, count, passphrase, passphrase.count, salt, salt.count, rounds)
    }
  }
}
