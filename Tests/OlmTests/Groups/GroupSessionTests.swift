import Testing

@testable import Olm

@Suite struct GroupSessionTests {
  private var random = SecretSource.repeating(seed: ascii("rooms"))

  @Test mutating func `a reader reads from the index on at which the key was shared`() throws {
    var outbound = OutboundGroupSession(random: &random)
    let before = try outbound.encrypt(ascii("before"))
    var inbound = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    #expect(inbound.isSigned && inbound.firstIndex == 1 && inbound.id == outbound.id)
    let messages = try (0..<600).map { try outbound.encrypt(ascii("message \($0)")) }
    for number in [599, 0, 300, 255, 256, 0] {
      let (plaintext, index) = try inbound.decrypt(messages[number])
      #expect(plaintext == ascii("message \(number)") && index == UInt32(number + 1))
    }
    #expect(throws: OlmError.unreachableIndex) { try inbound.decrypt(before) }
  }

  @Test mutating func `a damaged message is refused`() throws {
    var outbound = OutboundGroupSession(random: &random)
    var inbound = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    let message = try outbound.encrypt(ascii("whole"))
    for bytes in damaged(message) { #expect(throws: OlmError.self) { try inbound.decrypt(bytes) } }
    #expect(try inbound.decrypt(message).plaintext == ascii("whole"))
  }

  @Test mutating func `a member of the room cannot write as its owner`() throws {
    let owner = OutboundGroupSession(random: &random)
    let member = Ed25519KeyPair(from: &random)
    var inbound = try InboundGroupSession(sharedKey: owner.sharedKey.exposed())
    let forged = GroupMessage.seal(ascii("forged"), owner.ratchet, signedBy: member)
    #expect(throws: OlmError.wrongSignature) { try inbound.decrypt(forged) }
  }

  @Test mutating func `a shared key is signed by the session, an exported one is not`() throws {
    let outbound = OutboundGroupSession(random: &random)
    let shared = outbound.sharedKey.exposed()
    for bytes in damaged(shared) { #expect(throws: OlmError.self) { try InboundGroupSession(sharedKey: bytes) } }
    let exported = try InboundGroupSession(sharedKey: shared).exportedKey(at: 0).exposed()
    #expect(try !InboundGroupSession(exportedKey: exported).isSigned)
    #expect(throws: OlmError.unknownVersion) { try InboundGroupSession(sharedKey: exported) }
    #expect(throws: OlmError.unknownVersion) { try InboundGroupSession(exportedKey: shared) }
    #expect(throws: OlmError.malformed) { try InboundGroupSession(exportedKey: exported + [0]) }
    #expect(throws: OlmError.malformed) { try InboundGroupSession(exportedKey: []) }
  }

  @Test mutating func `an exported key reads from its index on`() throws {
    var outbound = OutboundGroupSession(random: &random)
    let whole = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    let messages = try (0..<4).map { try outbound.encrypt(ascii("message \($0)")) }
    var later = try InboundGroupSession(exportedKey: whole.exportedKey(at: 2).exposed())
    #expect(later.firstIndex == 2)
    #expect(throws: OlmError.unreachableIndex) { try later.exportedKey(at: 1) }
    #expect(throws: OlmError.unreachableIndex) { try later.decrypt(messages[1]) }
    #expect(try later.decrypt(messages[3]).plaintext == ascii("message 3"))
  }

  @Test mutating func `a key that is shared again reads from where it was shared first, and is the same`() throws {
    var outbound = OutboundGroupSession(random: &random)
    let own = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    var shared: [[UInt8]] = []
    for number in 0..<4 {
      shared.append(outbound.sharedKey.exposed())
      _ = try outbound.encrypt(ascii("message \(number)"))
    }
    for index in shared.indices {
      #expect(try outbound.sharedKey(at: UInt32(index), knowing: own).exposed() == shared[index])
    }
    let late = try InboundGroupSession(sharedKey: shared[2])
    #expect(throws: OlmError.unreachableIndex) { try outbound.sharedKey(at: 1, knowing: late) }
    let other = OutboundGroupSession(random: &random)
    #expect(throws: OlmError.wrongSession) { try other.sharedKey(at: 0, knowing: own) }
  }

  @Test mutating func `sessions agree if the second is a later state of the first`() throws {
    let outbound = OutboundGroupSession(random: &random)
    let whole = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    let later = try InboundGroupSession(exportedKey: whole.exportedKey(at: 70_000).exposed())
    #expect(try whole.agrees(with: later))
    #expect(try later.agrees(with: whole))
    // The same name on another ratchet: what a server could put into a backup.
    let forged = GroupKey(MegolmRatchet(random.secret(MegolmRatchet.byteCount), index: 0), whole.key)
    #expect(try !whole.agrees(with: InboundGroupSession(forged, isSigned: false)))
    let other = try InboundGroupSession(sharedKey: OutboundGroupSession(random: &random).sharedKey.exposed())
    #expect(try !whole.agrees(with: other))
  }

  @Test mutating func `the last index is never used`() throws {
    let signing = Ed25519KeyPair(from: &random)
    let last = MegolmRatchet(random.secret(MegolmRatchet.byteCount), index: .max)
    var outbound = OutboundGroupSession(signing: signing, ratchet: last)
    #expect(throws: OlmError.exhausted) { try outbound.encrypt([]) }
    var inbound = InboundGroupSession(GroupKey(last, signing.key), isSigned: false)
    #expect(throws: OlmError.exhausted) { try inbound.decrypt(GroupMessage.seal([], last, signedBy: signing)) }
  }

  @Test mutating func `a step at a time leads to the same ratchet as one leap`() throws {
    for start in [0, 250, 65_530, 0xFF_FFF0] as [UInt32] {
      let secret = random.secret(MegolmRatchet.byteCount)
      var (walking, leaping) = (MegolmRatchet(secret, index: start), MegolmRatchet(secret, index: start))
      for _ in 0..<600 { try walking.advance() }
      leaping.advance(to: start + 600)
      #expect(walking.index == leaping.index)
      #expect(walking.secret.isEqual(to: leaping.secret))
    }
  }

  @Test func `what vodozemac wrote is read`() throws {
    var session = try InboundGroupSession(sharedKey: decode(KeptVectors.megolmKey))
    #expect(session.id == ascii(KeptVectors.megolmID))
    for (text, message) in KeptVectors.megolmMessages.reversed() + KeptVectors.megolmMessages {
      let (plaintext, index) = try session.decrypt(decode(message))
      #expect(plaintext == ascii(text) && "room \(index)" == text)
    }
    for (index, key) in KeptVectors.megolmExports {
      #expect(try session.exportedKey(at: index).exposed() == decode(key))
    }
  }
}
