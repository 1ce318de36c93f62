import CPrimitives

/// `m.secret_storage.v1.aes-hmac-sha2`: encrypts a secret of the user's account data under a key that the user keeps.
/// Spec: Client-Server API, "Secret storage".
package struct SecretStorageCipher: Sendable {
  package static let keyByteCount = 32

  package struct Message: Equatable, Sendable {
    /// The first counter.
    package let iv: [UInt8]
    package let ciphertext: [UInt8]
    package let mac: [UInt8]

    package init(iv: [UInt8], ciphertext: [UInt8], mac: [UInt8]) {
      self.iv = iv
      self.ciphertext = ciphertext
      self.mac = mac
    }
  }

  private let encryption: Secret
  private let authentication: Secret

  /// - Parameter name: of the secret. An empty name is for the check of the key itself.
  package init(_ key: Secret, name: [UInt8]) {
    let keys = key.derived(64, info: name)
    encryption = keys.part(0..<32)
    authentication = keys.part(32..<64)
  }

  package func encrypt(_ plaintext: [UInt8], random: inout SecretSource) throws(OlmError) -> Message {
    guard plaintext.count <= MessageLimits.plaintextBytes else { throw .malformed }
    let iv = Self.makeIV(random: &random)
    let ciphertext = applied(to: plaintext, iv)
    return Message(iv: iv, ciphertext: ciphertext, mac: authentication.tag(of: ciphertext))
  }

  /// A wrong key and a changed ciphertext are the same error. The MAC does not cover the IV: a changed one gives other bytes.
  package func decrypt(_ message: Message) throws(OlmError) -> [UInt8] {
    guard message.iv.count == CounterCipher.counterByteCount, message.ciphertext.count <= MessageLimits.messageBytes else {
      throw .malformed
    }
    let tag = authentication.tag(of: message.ciphertext)
    guard tag.count == message.mac.count, primitives_equal(tag, message.mac, tag.count) == 1 else { throw .wrongMAC }
    return applied(to: message.ciphertext, message.iv)
  }

  /// Returns the MAC of 32 encrypted zeros, by which a key is recognized. nil unless the IV has 16 bytes.
  package static func check(of key: Secret, iv: [UInt8]) -> [UInt8]? {
    guard iv.count == CounterCipher.counterByteCount else { return nil }
    let cipher = SecretStorageCipher(key, name: [])
    return cipher.authentication.tag(of: cipher.applied(to: [UInt8](repeating: 0, count: 32), iv))
  }

  package static func makeIV(random: inout SecretSource) -> [UInt8] {
    var iv = random.bytes(CounterCipher.counterByteCount)
    // Bit 63: some implementations of AES-CTR count in the last 64 bits only.
    iv[8] &= 0x7F
    return iv
  }

  private func applied(to bytes: [UInt8], _ iv: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var cipher = CounterCipher(checkedKey: encryption, counter: iv)
    cipher.apply(to: &bytes)
    return bytes
  }
}
