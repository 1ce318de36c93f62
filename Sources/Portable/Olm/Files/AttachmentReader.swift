import CPrimitives

/// Decrypts a file from an encrypted event, in parts. Nothing of it may be shown or played before `verify` has passed: the server could
/// have changed it. Spec: Client-Server API, "Sending encrypted attachments".
package struct AttachmentReader: Sendable {
  private let digest: [UInt8]
  private var cipher: CounterCipher
  private var hash = SHA256()

  /// What the event says. The counter may have any low bits: older clients began with random ones.
  package init(key: Secret, counter: [UInt8], digest: [UInt8]) throws(OlmError) {
    guard let cipher = CounterCipher(key: key, counter: counter), digest.count == 32 else { throw .malformed }
    self.cipher = cipher
    self.digest = digest
  }

  package mutating func decrypt(_ bytes: inout [UInt8]) {
    hash.add(bytes)
    cipher.apply(to: &bytes)
  }

  /// After the last part.
  package func verify() throws(OlmError) {
    guard primitives_equal(hash.digest, digest, digest.count) == 1 else { throw .wrongMAC }
  }
}
