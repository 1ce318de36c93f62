import Testing

@testable import Olm

@Suite struct BackupTests {
  @Test func `the private key reads what the public one wrote`() throws {
    var random = SecretSource.system
    let pair = Curve25519KeyPair(from: &random)
    let message = try BackupCipher.encrypt(ascii("room key"), to: pair.key, random: &random)
    #expect(try BackupCipher.decrypt(message, with: pair) == ascii("room key"))
    #expect(throws: OlmError.wrongMAC) { try BackupCipher.decrypt(message, with: Curve25519KeyPair(from: &random)) }
  }

  @Test func `whatever is wrong with a message is one error`() throws {
    var random = SecretSource.system
    let pair = Curve25519KeyPair(from: &random)
    let message = try BackupCipher.encrypt(ascii("room key"), to: pair.key, random: &random)
    let weak = try #require(Curve25519Key(hex(weakPoints[0])))
    var wrongPadding = message.ciphertext
    wrongPadding[wrongPadding.count - 1] ^= 0x80
    for wrong in [
      BackupCipher.Message(ephemeral: weak, ciphertext: message.ciphertext, mac: message.mac),
      BackupCipher.Message(ephemeral: message.ephemeral, ciphertext: wrongPadding, mac: message.mac),
      BackupCipher.Message(ephemeral: message.ephemeral, ciphertext: [], mac: message.mac),
      BackupCipher.Message(ephemeral: message.ephemeral, ciphertext: message.ciphertext + [0], mac: message.mac),
      BackupCipher.Message(ephemeral: message.ephemeral, ciphertext: message.ciphertext, mac: []),
      BackupCipher.Message(ephemeral: message.ephemeral, ciphertext: message.ciphertext, mac: message.mac + [0])
    ] {
      #expect(throws: OlmError.wrongMAC) { try BackupCipher.decrypt(wrong, with: pair) }
    }
  }

  @Test func `texts of all lengths around a block are padded and read`() throws {
    var random = SecretSource.system
    let pair = Curve25519KeyPair(from: &random)
    for count in 0...33 {
      let text = [UInt8](repeating: UInt8(count), count: count)
      #expect(try BackupCipher.decrypt(BackupCipher.encrypt(text, to: pair.key, random: &random), with: pair) == text)
    }
  }

  @Test func `what vodozemac wrote is read`() throws {
    let message = BackupCipher.Message(
      ephemeral: try key(KeptVectors.backupKey), ciphertext: try decode(KeptVectors.backupCiphertext),
      mac: try decode(KeptVectors.backupMAC))
    #expect(try BackupCipher.decrypt(message, with: pair(KeptVectors.backupSecret)) == ascii(#"{"sessions":{}}"#))
  }
}
