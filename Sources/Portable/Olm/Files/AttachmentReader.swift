import CPrimitives

/// Decrypts a file from an encrypted event, in parts. Do not show or play any of it before `verify` has passed: the server could have
/// changed it. Spec: Client-Server API, "Sending encrypted attachments".
package struct AttachmentReader: Sendable {
  private let digest: [UInt8]
  private var cipher: CounterCipher
  private var hash = SHA256()

  /// Takes key, counter and hash from the event. Any counter is accepted: older clients used random low bits.
  package init(key: Secret, counter: [UInt8], digest: [UInt8]) throws(OlmError) {
    guard let cipher = CounterCipher(key: key, counter: counter), digest.count == 32 else { throw .malformed }
    self.cipher = cipher
    self.digest = digest
  }

  /// Takes them as the event has them, in base64.
  package init(keyText key: [UInt8], counter: [UInt8], digest: [UInt8]) throws(OlmError) {
    guard let key = Base64.decodeFromURL(key), let counter = Base64.decode(counter), let digest = Base64.decode(digest) else {
      throw .malformed
    }
    try self.init(key: Secret(key), counter: counter, digest: digest)
  }

  package mutating func decrypt(_ bytes: inout [UInt8]) {
    hash.add(bytes)
    cipher.apply(to: &bytes)
  }

  /// Compares the hash, after the last part.
  package func verify() throws(OlmError) {
    guard primitives_equal(hash.digest, digest, digest.count) == 1 else { throw .wrongMAC }
  }
}
