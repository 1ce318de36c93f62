import Olm

// One step many times over, for Benchmarks/Encryption, which takes the time.
extension Peer {
  /// `measure STEP TIMES`
  mutating func answerOfMeasuring(_ arguments: Arguments) throws(OlmError) -> [UInt8]? {
    guard arguments.command == "measure" else { return nil }
    let step = String(decoding: try arguments.name(0), as: UTF8.self)
    let times = try arguments.number(1)
    if try measurePrimitive(step, times) { return yes(true) }
    if try measureSession(step, times) { return yes(true) }
    return try measureGroup(step, times) ? yes(true) : nil
  }

  private static let text = [UInt8](repeating: 0x61, count: 300)

  private mutating func measurePrimitive(_ step: String, _ times: UInt32) throws(OlmError) -> Bool {
    let pair = Curve25519KeyPair(from: &random)
    let signing = Ed25519KeyPair(from: &random)
    let signature = signing.sign(Self.text)
    var megabyte = step == "attachment" || step == "hash" ? [UInt8](repeating: 0, count: 1 << 20) : []
    var cipher = AttachmentCipher(random: &random)
    let passphrase = try PassphraseKey(salt: Self.text, rounds: 10_000)
    for _ in 0..<times {
      switch step {
      case "public-key": _ = Curve25519KeyPair(from: &random)
      case "agreement": _ = try pair.agree(with: pair.key)
      case "sign": _ = signing.sign(Self.text)
      case "verify": guard signing.key.verifies(signature, of: Self.text) else { throw .wrongSignature }
      case "derive": _ = pair.secret.derived(80, info: Self.text)
      case "hash": _ = SHA256.digest(of: megabyte)
      case "attachment": cipher.encrypt(&megabyte)
      case "passphrase": _ = passphrase.derive(from: Self.text, byteCount: 64)
      default: return false
      }
    }
    return true
  }

  private mutating func measureSession(_ step: String, _ times: UInt32) throws(OlmError) -> Bool {
    let ann = Account(random: &random)
    var bob = Account(random: &random)
    bob.replaceFallbackKey(random: &random)
    guard let oneTime = bob.fallbackKey?.pair.key else { throw .malformed }
    var session = try ann.session(to: bob.identity.key, oneTime: oneTime, random: &random)
    let first = try session.encrypt(Self.text, random: &random)
    for _ in 0..<times {
      switch step {
      case "begin":
        var session = try ann.session(to: bob.identity.key, oneTime: oneTime, random: &random)
        _ = try session.encrypt(Self.text, random: &random)
      case "accept": _ = try bob.accept(first.body, from: ann.identity.key)
      case "encrypt": _ = try session.encrypt(Self.text, random: &random)
      default: return false
      }
    }
    return true
  }

  private mutating func measureGroup(_ step: String, _ times: UInt32) throws(OlmError) -> Bool {
    var room = OutboundGroupSession(random: &random)
    var reader = try InboundGroupSession(sharedKey: room.sharedKey.exposed())
    let message = try room.encrypt(Self.text)
    for _ in 0..<times {
      switch step {
      case "room-encrypt": _ = try room.encrypt(Self.text)
      case "room-decrypt": _ = try reader.decrypt(message)
      default: return false
      }
    }
    return true
  }
}
