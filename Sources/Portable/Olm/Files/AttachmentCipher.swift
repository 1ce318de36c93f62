/// Encrypts a file for `m.room.message`, in parts, and hashes what is uploaded. Spec: Client-Server API, "Sending encrypted attachments".
package struct AttachmentCipher: Sendable {
  /// What the event says, beside the hash.
  package let key: Secret
  package let counter: [UInt8]
  private var cipher: CounterCipher
  private var hash = SHA256()

  /// Key and counter are new for each file. The counter begins with 64 random bits and goes on with zeros.
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

  /// Of everything that was encrypted: `hashes.sha256`, before base64.
  package var digest: [UInt8] { hash.digest }
}
