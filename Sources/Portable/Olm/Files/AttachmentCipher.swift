/// Encrypts a file for `m.room.message`, in parts, and hashes the ciphertext. Spec: Client-Server API, "Sending encrypted attachments".
package struct AttachmentCipher: Sendable {
  /// For the event, as is the counter.
  package let key: Secret
  package let counter: [UInt8]
  private var cipher: CounterCipher
  private var hash = SHA256()

  /// Makes a new key and counter, for one file only. The counter has 64 random bits, then zeros.
  package init(random: inout SecretSource) {
    let key = random.secret(CounterCipher.keyByteCount)
    let counter = random.bytes(8) + [UInt8](repeating: 0, count: 8)
    self.key = key
    self.counter = counter
    cipher = CounterCipher(checkedKey: key, counter: counter)
  }

  package mutating func encrypt(_ bytes: inout [UInt8]) {
    cipher.apply(to: &bytes)
    hash.add(bytes)
  }

  /// The SHA-256 of the ciphertext so far, for `hashes.sha256`.
  package var digest: [UInt8] { hash.digest }

  /// Key, counter and hash as the event has them.
  package var texts: (key: [UInt8], counter: [UInt8], digest: [UInt8]) {
    (Base64.encodeForURL(key.exposed()), Base64.encode(counter), Base64.encode(digest))
  }
}
