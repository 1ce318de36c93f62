import CPrimitives

/// Both halves of a key for signatures. RFC 8032.
package struct Ed25519KeyPair: Sendable {
  package let seed: Secret
  package let key: Ed25519Key

  /// nil unless the seed has 32 bytes.
  package init?(seed: Secret) {
    guard seed.count == Ed25519Key.byteCount else { return nil }
    self.init(checked: seed)
  }

  package init(from random: inout SecretSource) { self.init(checked: random.secret(Ed25519Key.byteCount)) }

  private init(checked seed: Secret) {
    self.seed = seed
    var bytes = [UInt8](repeating: 0, count: Ed25519Key.byteCount)
    primitives_ed25519_public_key(&bytes, seed.start)
    key = Ed25519Key(checked: bytes)
  }

  package func sign(_ message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Ed25519Key.signatureByteCount)
    primitives_ed25519_sign(&signature, message, message.count, seed.start, key.bytes)
    return signature
  }

  func sign(_ message: Secret) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Ed25519Key.signatureByteCount)
    primitives_ed25519_sign(&signature, message.start, message.count, seed.start, key.bytes)
    return signature
  }
}
