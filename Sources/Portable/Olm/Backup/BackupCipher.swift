/// `m.megolm_backup.v1.curve25519-aes-sha2`: room keys on the server. The public key encrypts them, the private one decrypts them.
/// Spec: Client-Server API, "Server-side key backups".
///
/// The MAC covers nothing, by an old mistake that all implementations share. It shows that the key fits, not that the ciphertext is
/// unchanged. So a key from a backup proves nothing about its origin.
package enum BackupCipher {
  package struct Message: Equatable, Sendable {
    package let ephemeral: Curve25519Key
    package let ciphertext: [UInt8]
    package let mac: [UInt8]

    package init(ephemeral: Curve25519Key, ciphertext: [UInt8], mac: [UInt8]) {
      self.ephemeral = ephemeral
      self.ciphertext = ciphertext
      self.mac = mac
    }
  }

  package static func encrypt(
    _ plaintext: [UInt8], to key: Curve25519Key, random: inout SecretSource
  ) throws(OlmError) -> Message {
    guard plaintext.count <= MessageLimits.plaintextBytes else { throw .malformed }
    let ephemeral = Curve25519KeyPair(from: &random)
    let cipher = MessageCipher(try ephemeral.agree(with: key), info: [])
    return Message(ephemeral: ephemeral.key, ciphertext: cipher.encrypt(plaintext), mac: cipher.tag(of: []))
  }

  /// Decrypts a message. Every failure is the same error: the server could learn the text from different ones.
  package static func decrypt(_ message: Message, with pair: Curve25519KeyPair) throws(OlmError) -> [UInt8] {
    guard message.ciphertext.count <= MessageLimits.messageBytes else { throw .malformed }
    do throws(OlmError) {
      let cipher = MessageCipher(try pair.agree(with: message.ephemeral), info: [])
      try cipher.verify(message.mac[...], of: [])
      return try cipher.decrypt(message.ciphertext[...])
    } catch {
      throw .wrongMAC
    }
  }
}
