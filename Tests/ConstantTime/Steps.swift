import Olm

/// A step of `Olm`, with all that must stay secret marked.
struct Step: Sendable {
  let name: String
  /// How often it branches on something that came of secrets and is public, besides what public-results.supp has.
  var publicResults: UInt32 = 0
  let run: @Sendable () throws -> Void
}

private let text = [UInt8](repeating: 0x61, count: 300)

private func pair(_ seed: UInt8) throws -> Curve25519KeyPair {
  guard let pair = Curve25519KeyPair(Shadow.secret(32, seed)) else { throw OlmError.malformed }
  Shadow.publish(pair.key)
  return pair
}

/// An account whose public keys are public.
private func account(_ seed: UInt8) -> Account {
  var random = Shadow.source(seed)
  var account = Account(random: &random)
  account.makeOneTimeKeys(1, random: &random)
  account.replaceFallbackKey(random: &random)
  Shadow.publish(account.signing.key)
  Shadow.publish(account.identity.key)
  for key in account.oneTimeKeys { Shadow.publish(key.pair.key) }
  if let key = account.fallbackKey { Shadow.publish(key.pair.key) }
  return account
}

let steps: [Step] = [
  Step(name: "Curve25519: public key and agreement") {
    let (one, other) = (try pair(1), try pair(2))
    _ = try one.agree(with: other.key)
  },
  Step(name: "Ed25519: public key and signature") {
    guard let pair = Ed25519KeyPair(seed: Shadow.secret()) else { throw OlmError.malformed }
    Shadow.publish(pair.key)
    Shadow.publish(pair.sign(text))
  },
  Step(name: "HKDF, HMAC and SHA-256") {
    _ = Shadow.secret().derived(80, info: text, salt: Shadow.secret(32, 2))
    _ = Shadow.secret().tag(of: Shadow.bytes(100, 3))
    _ = SHA256.digest(of: Shadow.bytes(100, 4))
  },
  Step(name: "PBKDF2 of a passphrase") {
    _ = try PassphraseKey(salt: text, rounds: 20).derive(from: Shadow.bytes(20, 1), byteCount: 64)
  },
  Step(name: "comparing secrets") { _ = Shadow.secret().isEqual(to: Shadow.secret(32, 2)) },
  Step(name: "base64 of secrets, written") {
    for count in 0..<9 { _ = (Base64.encode(Shadow.bytes(count, 1)), Base64.encodeForURL(Shadow.bytes(count, 1))) }
  },
  // Whether letters and left-over bits are right. Where the text ends is public.
  Step(name: "base64 of secrets, read", publicResults: 2) {
    for decode in [Base64.decode, Base64.decodeFromURL] {
      var text = Base64.encode(Shadow.bytes(32, 1))
      let end = Shadow.publish(Array(text.suffix(2)))
      text.replaceSubrange(text.count - 2..<text.count, with: end)
      _ = decode(text)
    }
  },
  Step(name: "Olm: a session begun, accepted and used both ways") {
    var (random, ours, theirs) = (Shadow.source(9), account(1), account(2))
    var begun = try ours.session(to: theirs.identity.key, oneTime: theirs.oneTimeKeys[0].pair.key, random: &random)
    let first = Shadow.publish(try begun.encrypt(Shadow.bytes(40, 3), random: &random))
    var (accepted, _) = try theirs.accept(first.body, from: ours.identity.key)
    for size in [0, 15, 16, 300] {
      _ = try begun.decrypt(Shadow.publish(try accepted.encrypt(Shadow.bytes(size, 4), random: &random)))
      _ = try accepted.decrypt(Shadow.publish(try begun.encrypt(Shadow.bytes(size, 5), random: &random)))
    }
    ours.forgetPreviousFallbackKey()
  },
  Step(name: "Olm: skipped messages, and a damaged one") {
    var (random, ours, theirs) = (Shadow.source(9), account(1), account(2))
    var begun = try ours.session(to: theirs.identity.key, oneTime: theirs.oneTimeKeys[0].pair.key, random: &random)
    let messages = try (0..<4).map { _ in Shadow.publish(try begun.encrypt(Shadow.bytes(40, 3), random: &random)) }
    var (accepted, _) = try theirs.accept(messages[3].body, from: ours.identity.key)
    for message in messages[..<3] { _ = try accepted.decrypt(message) }
    var damaged = messages[0].body
    damaged[damaged.count - 1] ^= 1
    guard (try? theirs.accept(damaged, from: ours.identity.key)) == nil else { throw OlmError.malformed }
  },
  Step(name: "records of accounts and sessions") {
    var (random, ours, theirs) = (Shadow.source(9), account(1), account(2))
    let session = try ours.session(to: theirs.identity.key, oneTime: theirs.oneTimeKeys[0].pair.key, random: &random)
    _ = try Session(record: session.record)
    _ = try Account(record: theirs.record)
    theirs.forgetPreviousFallbackKey()
  },
  Step(name: "Megolm: encrypted, shared, exported, read") {
    var random = Shadow.source(1)
    var session = OutboundGroupSession(random: &random)
    Shadow.publish(session.id)
    var reader = try InboundGroupSession(sharedKey: session.sharedKey.exposed())
    for size in [0, 15, 16, 300] { _ = try reader.decrypt(Shadow.publish(try session.encrypt(Shadow.bytes(size, 2)))) }
    _ = try reader.agrees(with: InboundGroupSession(exportedKey: reader.exportedKey(at: 3).exposed()))
  },
  Step(name: "verification: agreement, emoji, numbers and MAC") {
    var random = Shadow.source(1)
    let (one, other) = (SAS(random: &random), SAS(random: &random))
    Shadow.publish(one.key)
    let shared = try one.agree(with: Shadow.publish(other.key))
    _ = shared.mac(of: text, info: text)
    _ = shared.verifies(text, of: text, info: text)
  },
  Step(name: "backup: encrypted and decrypted") {
    var random = Shadow.source(1)
    let pair = try pair(2)
    let message = try BackupCipher.encrypt(Shadow.bytes(200, 3), to: pair.key, random: &random)
    Shadow.publish(message.ephemeral)
    for bytes in [message.ciphertext, message.mac] { Shadow.publish(bytes) }
    _ = try BackupCipher.decrypt(message, with: pair)
  },
  Step(name: "secret storage: encrypted, decrypted and checked") {
    var random = Shadow.source(1)
    let message = try SecretStorageCipher(Shadow.secret(), name: text).encrypt(Shadow.bytes(43, 2), random: &random)
    for bytes in [message.iv, message.ciphertext, message.mac] { Shadow.publish(bytes) }
    _ = try SecretStorageCipher(Shadow.secret(), name: text).decrypt(message)
    _ = SecretStorageCipher.check(of: Shadow.secret(), iv: message.iv)
  },
  Step(name: "key file: sealed and opened") {
    var random = Shadow.source(1)
    let keys = Shadow.secret(KeyFile.keysByteCount)
    let file = try KeyFile.seal(
      Shadow.bytes(100, 2), keys, PassphraseKey(salt: text.suffix(16).map { $0 }, rounds: 3), random: &random)
    _ = try KeyFile(Shadow.publish(file)).open(keys)
  },
  Step(name: "attachment: encrypted, hashed and decrypted") {
    var (random, bytes) = (Shadow.source(1), Shadow.bytes(1_000, 2))
    var cipher = AttachmentCipher(random: &random)
    Shadow.publish(cipher.counter)
    cipher.encrypt(&bytes)
    Shadow.publish(bytes)
    var reader = try AttachmentReader(key: cipher.key, counter: cipher.counter, digest: cipher.digest)
    reader.decrypt(&bytes)
    try reader.verify()
  },
  Step(name: "dehydrated device: sealed and opened") {
    var random = Shadow.source(1)
    let device = try DehydratedAccount(account(2), with: Shadow.secret(), random: &random)
    Shadow.publish(device.sealed)
    Shadow.publish(device.nonce)
    _ = try device.open(with: Shadow.secret())
  }
]

/// What the check has to find, or it finds nothing.
let faulty = [
  Step(name: "a branch on a secret") { if Shadow.bytes(1, 1)[0] == 7 { print("seven") } },
  Step(name: "an index that is secret") {
    let table = (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let found = table.withUnsafeBufferPointer { $0[Int(Shadow.bytes(1, 1)[0])] }
    Shadow.publish([found])
  }
]
