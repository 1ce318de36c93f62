import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct SecretStorageTests {
  private func bytes(_ base64: String) throws -> [UInt8] { try #require(Base64.decode(Array(base64.utf8))) }

  private func failure<Value>(_ body: () throws(SecretStorageError) -> Value) -> SecretStorageError? {
    do throws(SecretStorageError) {
      _ = try body()
      return nil
    } catch { return error }
  }

  private func read(_ content: String, id: ByteString = "key") throws -> StorageKeyDescription {
    try StorageKeyDescription(try parsed(content), id: id)
  }

  // MARK: Other clients

  @Test func `a secret that mautrix stored is read with the recovery key`() throws {
    let description = try read(KeptVectors.storageKey, id: "plain")
    let recovery = try RecoveryKey(text: Array(KeptVectors.recoveryKey.utf8))
    let key = try description.key(recovery.secret)
    #expect(try key.decrypt(try parsed(KeptVectors.storedSecret), as: .masterKey).exposed() == bytes(KeptVectors.secret))
    #expect(key.recoveryKey?.text == Array(KeptVectors.recoveryKey.utf8) && description.passphrase == nil)
  }

  @Test func `a secret that mautrix stored is read with the passphrase`() throws {
    let description = try read(KeptVectors.passphraseKey, id: "derived")
    let passphrase = try #require(description.passphrase)
    let key = try description.key(passphrase.derive(from: Array("correct horse".utf8), byteCount: 32))
    let stored = try parsed(KeptVectors.passphraseStoredSecret)
    #expect(try key.decrypt(stored, as: .masterKey).exposed() == bytes(KeptVectors.passphraseSecret))
    #expect(key.recoveryKey?.text == Array(KeptVectors.passphraseRecoveryKey.utf8))
    let wrong = passphrase.derive(from: Array("wrong horse".utf8), byteCount: 32)
    #expect(failure { () throws(SecretStorageError) in try description.key(wrong) } == .wrongKey)
  }

  // MARK: Keys

  @Test func `a new key is described, recognized and read again`() throws {
    var random = SecretSource.repeating(seed: [1])
    for passphrase in [nil, StorageKeyDescription.newPassphrase(random: &random)] {
      let secret = random.secret(32)
      let made = StorageKeyDescription(of: secret, passphrase: passphrase, random: &random)
      let again = try StorageKeyDescription(try JSON.parse(made.content), id: made.id)
      #expect(again == made && again.passphrase == passphrase && again.isSameKey(as: made))
      #expect(try again.key(secret).secret.isEqual(to: secret))
      #expect(failure { () throws(SecretStorageError) in try again.key(random.secret(32)) } == .wrongKey)
      #expect(failure { () throws(SecretStorageError) in try again.key(Secret([1])) } == .wrongKey)
    }
    let made = StorageKeyDescription(of: random.secret(32), random: &random)
    #expect(StorageKeyDescription.type(of: made.id).string == "m.secret_storage.key.\(made.id.string)")
    #expect(try JSON.parse(made.defaultKeyContent).text("key") == made.id)
    let passphrase = try #require(StorageKeyDescription.newPassphrase(random: &random))
    #expect(passphrase.rounds == 500_000 && passphrase != StorageKeyDescription.newPassphrase(random: &random))
  }

  @Test func `base64 is read with and without padding`() throws {
    var random = SecretSource.repeating(seed: [1])
    let secret = random.secret(32), value = random.secret(32)
    let made = StorageKeyDescription(of: secret, random: &random)
    let key = try made.key(secret)
    func padded(_ json: JSON) throws -> JSON {
      try json.replacing(["iv", "mac", "ciphertext"]) { writer in
        for name: StaticString in ["iv", "mac", "ciphertext"] {
          guard let text = json.text(name) else { continue }
          writer.member(name, text.string + String(repeating: "=", count: (4 - text.count % 4) % 4))
        }
      }
    }
    let description = try StorageKeyDescription(try padded(try JSON.parse(made.content)), id: made.id)
    #expect(description == made)
    let stored = try JSON.parse(try key.encrypt(value, as: .backupKey, random: &random))
    let inner = try padded(try #require(stored["encrypted"]?[made.id]))
    #expect(inner.text("mac")?.string.hasSuffix("=") ?? false)
    let content = try parsed(#"{"encrypted":{"\#(made.id.string)":\#(String(decoding: inner.bytes, as: UTF8.self))}}"#)
    #expect(try key.decrypt(content, as: .backupKey).isEqual(to: value))
  }

  @Test func `a description is refused with its reason`() throws {
    var random = SecretSource.repeating(seed: [1])
    let passphrase = StorageKeyDescription.newPassphrase(random: &random)
    let json = try JSON.parse(StorageKeyDescription(of: random.secret(32), passphrase: passphrase, random: &random).content)
    func refusal(_ key: StaticString, _ value: String, in part: StaticString? = nil) throws -> SecretStorageError? {
      var changed = try (part.flatMap { json[$0] } ?? json).replacing([key]) { $0.member(key, raw: Array(value.utf8)) }
      if let part { changed = try json.replacing([part]) { $0.member(part, changed) } }
      return failure { () throws(SecretStorageError) in try StorageKeyDescription(changed, id: "key") }
    }
    #expect(try refusal("name", #""mine""#) == nil && refusal("bits", "256", in: "passphrase") == nil)
    #expect(try refusal("algorithm", #""other""#) == .unsupported && refusal("algorithm", "7") == .unsupported)
    #expect(try refusal("algorithm", #""m.other""#, in: "passphrase") == .unsupported)
    #expect(try refusal("bits", "128", in: "passphrase") == .unsupported)
    for (key, wrong) in [("iv", #""AAAA""#), ("mac", #""AAAA""#), ("mac", "7"), ("iv", "null")] as [(StaticString, String)] {
      #expect(try refusal(key, wrong) == .malformed)
    }
    for (key, wrong) in [
      ("iterations", "0"), ("iterations", "10000001"), ("iterations", "-1"), ("iterations", "4294967297"), ("salt", "7")
    ] as [(StaticString, String)] { #expect(try refusal(key, wrong, in: "passphrase") == .malformed) }
    for senseless in ["7", "[]", "{}"] { #expect(throws: SecretStorageError.self) { try read(senseless) } }
  }

  @Test func `a description without a check fits any key, and a wrong one is noticed when it decrypts`() throws {
    var random = SecretSource.repeating(seed: [1])
    let secret = random.secret(32), checked = StorageKeyDescription(of: secret, random: &random)
    let description = try read(#"{"algorithm":"m.secret_storage.v1.aes-hmac-sha2"}"#, id: checked.id)
    let one = try description.key(secret), other = try description.key(random.secret(32))
    let stored = try JSON.parse(try checked.key(secret).encrypt(random.secret(32), as: .masterKey, random: &random))
    #expect(failure { () throws(SecretStorageError) in try other.decrypt(stored, as: .masterKey) } == .wrongKey)
    #expect(failure { () throws(SecretStorageError) in try one.decrypt(stored, as: .masterKey) } == nil)
    // It may be of a weak passphrase that the server made up.
    #expect(failure { () throws(SecretStorageError) in try one.encrypt(secret, as: .masterKey, random: &random) } == .unchecked)
    var storage = SecretStorage()
    _ = try storage.open(description, with: secret)
    #expect(storage.pinned == nil)
  }

  // MARK: Secrets

  @Test func `a secret is refused with its reason`() throws {
    var random = SecretSource.repeating(seed: [1])
    let secret = random.secret(32)
    let key = try StorageKeyDescription(of: secret, random: &random).key(secret)
    let other = StorageKey(id: "other", secret: secret, isChecked: true)
    let stored = try JSON.parse(try key.encrypt(random.secret(32), as: .masterKey, random: &random))
    func refusal(_ content: JSON, _ key: StorageKey, _ name: SecretName = .masterKey) -> SecretStorageError? {
      failure { () throws(SecretStorageError) in try key.decrypt(content, as: name) }
    }
    #expect(refusal(stored, key) == nil && refusal(stored, other) == .missing)
    #expect(refusal(stored, key, .selfSigningKey) == .wrongKey, "one secret in the place of another")
    for senseless in ["7", "{}", #"{"encrypted":[]}"#] { #expect(refusal(try parsed(senseless), key) == .missing) }
    for senseless in ["7", "{}", #"{"iv":"AAAA","ciphertext":"AAAA","mac":7}"#, #"{"iv":"AAAA","ciphertext":"","mac":"AAAA"}"#]
    {
      let content = try parsed(#"{"encrypted":{"\#(key.id.string)":\#(senseless)}}"#)
      #expect(refusal(content, key) == .malformed || refusal(content, key) == .wrongKey)
    }
    let short = try JSON.parse(try key.encrypt(Secret([1, 2, 3]), as: .masterKey, random: &random))
    #expect(refusal(short, key) == .malformed)
  }

  // MARK: Pinning

  @Test func `another key in place of the opened one is noticed, also after a restart`() throws {
    var random = SecretSource.repeating(seed: [1])
    let secret = random.secret(32)
    let description = StorageKeyDescription(of: secret, random: &random)
    var storage = SecretStorage()
    #expect(storage.isFamiliar(description), "none was opened")
    #expect(try SecretStorage(record: storage.record).pinned == nil)
    do throws(SecretStorageError) {
      _ = try storage.open(description, with: random.secret(32))
      Issue.record("the key is wrong")
    } catch { #expect(error == .wrongKey && storage.pinned == nil) }
    _ = try storage.open(description, with: secret)
    for storage in [storage, try SecretStorage(record: storage.record)] {
      #expect(storage.isFamiliar(description))
      let json = try JSON.parse(description.content)
      let renamed = try StorageKeyDescription(try json.replacing(["name"]) { $0.member("name", "mine") }, id: description.id)
      #expect(storage.isFamiliar(renamed))
      let unchecked = try StorageKeyDescription(try json.replacing(["iv", "mac"]) { _ in }, id: description.id)
      let weak = try StorageKeyDescription(
        try json.replacing(["passphrase"]) { writer in
          writer.member("passphrase", raw: Array(#"{"algorithm":"m.pbkdf2","salt":"a","iterations":1}"#.utf8))
        }, id: description.id)
      let other = StorageKeyDescription(of: secret, random: &random)
      for swapped in [unchecked, weak, other, try StorageKeyDescription(json, id: "other")] {
        #expect(!storage.isFamiliar(swapped))
      }
    }
    let damaged = try JSON.parse(storage.record).replacing(["key"]) { $0.member("key", raw: Array("{}".utf8)) }
    #expect(throws: RecordRefusal.unreadable) { try SecretStorage(record: Array(damaged.bytes)) }
    // The user gives the key of the new one: from then on it is the familiar one.
    let next = StorageKeyDescription(of: secret, random: &random)
    _ = try storage.open(next, with: secret)
    #expect(storage.isFamiliar(next) && !storage.isFamiliar(description))
  }
}
