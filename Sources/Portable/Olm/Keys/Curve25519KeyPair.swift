import CPrimitives

/// Both halves of a key for agreements. RFC 7748.
package struct Curve25519KeyPair: Sendable {
  package let secret: Secret
  package let key: Curve25519Key

  /// nil unless the secret has 32 bytes.
  package init?(_ secret: Secret) {
    guard secret.count == Curve25519Key.byteCount else { return nil }
    self.init(checked: secret)
  }

  package init(from random: inout SecretSource) { self.init(checked: random.secret(Curve25519Key.byteCount)) }

  private init(checked secret: Secret) {
    self.secret = secret
    var bytes = [UInt8](repeating: 0, count: Curve25519Key.byteCount)
    primitives_x25519_public_key(&bytes, secret.start)
    key = Curve25519Key(checked: bytes)
  }

  /// What both sides know, and nobody else.
  package func agree(with other: Curve25519Key) throws(OlmError) -> Secret {
    var isSafe = false
    let shared = Secret(count: 32) { isSafe = primitives_x25519($0, secret.start, other.bytes) == 1 }
    guard isSafe else { throw .weakKey }
    return shared
  }
}
