import Testing

@testable import Olm

@Suite struct SecretStorageTests {
  private let key = Secret([UInt8](repeating: 7, count: 32))

  @Test func `a secret is read with its key and its name only`() throws {
    var random = SecretSource.system
    for count in 0...33 {
      let secret = random.bytes(count)
      let message = try SecretStorageCipher(key, name: ascii("one")).encrypt(secret, random: &random)
      #expect(try SecretStorageCipher(key, name: ascii("one")).decrypt(message) == secret)
      #expect(message.ciphertext.count == count && message.iv[8] & 0x80 == 0)
      #expect(throws: OlmError.wrongMAC) { try SecretStorageCipher(key, name: ascii("other")).decrypt(message) }
      #expect(throws: OlmError.wrongMAC) { try SecretStorageCipher(Secret([1]), name: ascii("one")).decrypt(message) }
    }
  }

  @Test func `a changed message is refused`() throws {
    var random = SecretSource.system
    let cipher = SecretStorageCipher(key, name: ascii("one"))
    let message = try cipher.encrypt(ascii("a secret"), random: &random)
    for ciphertext in damaged(message.ciphertext) {
      let changed = SecretStorageCipher.Message(iv: message.iv, ciphertext: ciphertext, mac: message.mac)
      #expect(throws: OlmError.wrongMAC) { try cipher.decrypt(changed) }
    }
    for mac in damaged(message.mac) + [message.mac + [0]] {
      let changed = SecretStorageCipher.Message(iv: message.iv, ciphertext: message.ciphertext, mac: mac)
      #expect(throws: OlmError.wrongMAC) { try cipher.decrypt(changed) }
    }
    for iv in [[], [UInt8](message.iv.dropLast()), message.iv + [0]] {
      let changed = SecretStorageCipher.Message(iv: iv, ciphertext: message.ciphertext, mac: message.mac)
      #expect(throws: OlmError.malformed) { try cipher.decrypt(changed) }
    }
    let long = [UInt8](repeating: 0, count: MessageLimits.messageBytes + 1)
    #expect(throws: OlmError.malformed) {
      try cipher.decrypt(SecretStorageCipher.Message(iv: message.iv, ciphertext: long, mac: message.mac))
    }
    #expect(throws: OlmError.malformed) { try cipher.encrypt(long, random: &random) }
  }

  @Test func `a check recognizes its key`() throws {
    var random = SecretSource.system
    let iv = SecretStorageCipher.makeIV(random: &random)
    let check = try #require(SecretStorageCipher.check(of: key, iv: iv))
    #expect(check == SecretStorageCipher.check(of: key, iv: iv) && check.count == 32)
    #expect(check != SecretStorageCipher.check(of: random.secret(32), iv: iv))
    #expect(SecretStorageCipher.check(of: key, iv: [1]) == nil)
  }
}
