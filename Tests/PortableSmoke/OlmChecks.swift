import Olm

let olmChecks = [
  Check("Olm: two devices talk, and each message is read once") {
    var random = SecretSource.system
    let ann = Account(random: &random)
    var bob = Account(random: &random)
    bob.makeOneTimeKeys(1, random: &random)
    guard let oneTime = bob.oneTimeKeys.first?.pair.key,
      var anns = try? ann.session(to: bob.identity.key, oneTime: oneTime, random: &random),
      let first = try? anns.encrypt([1, 2, 3], random: &random),
      var (bobs, text) = try? bob.accept(first.body, from: ann.identity.key), text == [1, 2, 3],
      let answer = try? bobs.encrypt([4], random: &random), (try? anns.decrypt(answer)) == [4]
    else { return false }
    return (try? anns.decrypt(answer)) == nil && (try? Session(record: bobs.record))?.id == anns.id
  },
  Check("Olm: a room is read from the index on at which its key was shared") {
    var random = SecretSource.system
    var room = OutboundGroupSession(random: &random)
    let before = try? room.encrypt([1])
    guard var reader = try? InboundGroupSession(sharedKey: room.sharedKey.exposed()), let before,
      let message = try? room.encrypt([2]), let (text, index) = try? reader.decrypt(message)
    else { return false }
    return text == [2] && index == 1 && (try? reader.decrypt(before)) == nil
  },
  Check("Olm: signatures of a key of small order are refused") {
    var random = SecretSource.system
    let pair = Ed25519KeyPair(from: &random)
    guard let weak = Ed25519Key([1] + [UInt8](repeating: 0, count: 31)) else { return false }
    return pair.key.verifies(pair.sign([7]), of: [7]) && !weak.verifies([1] + [UInt8](repeating: 0, count: 63), of: [7])
  },
  Check("Olm: a seed gives the same secrets, HKDF and AES on both machines") {
    var random = SecretSource.repeating(seed: [1])
    var writer = AttachmentCipher(random: &random)
    var bytes = [UInt8](repeating: 0x61, count: 100)
    writer.encrypt(&bytes)
    return writer.digest.starts(with: [234, 226, 109, 107, 129, 154, 168, 236])
  },
  Check("Olm: a key file is opened by its passphrase") {
    var random = SecretSource.system
    guard let passphraseKey = try? PassphraseKey(salt: [UInt8](repeating: 1, count: 16), rounds: 2) else { return false }
    let keys = passphraseKey.derive(from: [0x70], byteCount: KeyFile.keysByteCount)
    guard let text = try? KeyFile.seal([5], keys, passphraseKey, random: &random), let file = try? KeyFile(text) else {
      return false
    }
    return (try? file.open(keys)) == [5]
  }
]
