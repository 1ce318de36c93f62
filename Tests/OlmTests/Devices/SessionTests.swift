import Testing

@testable import Olm

@Suite struct SessionTests {
  @Test func `messages are pre-key messages until the first answer`() throws {
    var both = try Correspondence()
    let second = try both.annSays("second")
    #expect(second.type == 0 && !both.ann.isEstablished)
    #expect(try both.bob.decrypt(second) == ascii("second"))
    let answer = try both.bobSays("answer")
    #expect(answer.type == 1)
    #expect(try both.ann.decrypt(answer) == ascii("answer"))
    #expect(both.ann.isEstablished)
    let third = try both.annSays("third")
    #expect(third.type == 1)
    #expect(try both.bob.decrypt(third) == ascii("third"))
    #expect(both.ann.id == both.bob.id)
  }

  @Test func `messages are read in any order, and each once`() throws {
    var both = try Correspondence()
    let messages = try (0..<10).map { try both.annSays("message \($0)") }
    for number in [7, 0, 9, 3, 1, 2, 8, 4, 6, 5] {
      #expect(try both.bob.decrypt(messages[number]) == ascii("message \(number)"))
    }
    for message in messages { #expect(throws: OlmError.unreachableIndex) { try both.bob.decrypt(message) } }
  }

  @Test func `the keys of 40 lost messages are kept`() throws {
    var both = try Correspondence()
    let messages = try (0..<42).map { try both.annSays("message \($0)") }
    #expect(try both.bob.decrypt(messages[41]) == ascii("message 41"))
    #expect(throws: OlmError.unreachableIndex) { try both.bob.decrypt(messages[0]) }
    for number in 1...40 { #expect(try both.bob.decrypt(messages[number]) == ascii("message \(number)")) }
  }

  @Test func `a message is read up to 2,000 ahead`() throws {
    var both = try Correspondence()
    for _ in 0..<2_000 { _ = try both.annSays("lost") }
    let last = try both.annSays("last")
    let tooFar = try both.annSays("too far")
    #expect(throws: OlmError.tooFarAhead) { try both.bob.decrypt(tooFar) }
    #expect(try both.bob.decrypt(last) == ascii("last"))
    #expect(try both.bob.decrypt(tooFar) == ascii("too far"))
  }

  @Test func `late messages of the last five turns are read`() throws {
    var both = try Correspondence()
    var late: [OlmMessage] = []
    for turn in 0..<6 {
      late.append(try both.annSays("late \(turn)"))
      #expect(try both.bob.decrypt(both.annSays("on time")) == ascii("on time"))
      #expect(try both.ann.decrypt(both.bobSays("answer")) == ascii("answer"))
    }
    #expect(throws: OlmError.self) { try both.bob.decrypt(late[0]) }
    for turn in 1..<6 { #expect(try both.bob.decrypt(late[turn]) == ascii("late \(turn)")) }
  }

  @Test func `a damaged message is refused and changes nothing`() throws {
    var both = try Correspondence()
    _ = try both.ann.decrypt(both.bobSays("answer"))
    let message = try both.annSays("whole")
    let before = both.bob.record
    for bytes in damaged(message.body) { #expect(throws: OlmError.self) { try both.bob.decrypt(.normal(bytes)) } }
    #expect(both.bob.record.isEqual(to: before))
    #expect(try both.bob.decrypt(message) == ascii("whole"))
  }

  @Test func `a message of another session is refused`() throws {
    var (one, other) = (try Correspondence(), try Correspondence(seed: "another"))
    let message = try other.annSays("to another")
    #expect(try !one.bob.isBegun(by: message.body))
    #expect(throws: OlmError.wrongSession) { try one.bob.decrypt(message) }
    #expect(try one.bob.isBegun(by: one.annSays("second").body))
    _ = try other.ann.decrypt(other.bobSays("answer"))
    let normal = try other.annSays("to another")
    #expect(throws: OlmError.self) { try one.bob.decrypt(normal) }
  }

  @Test func `the last index is never used`() throws {
    var both = try Correspondence()
    let sending = try #require(both.ann.sending)
    let last = Session(
      keys: both.ann.keys, root: both.ann.root,
      sending: .init(ratchet: sending.ratchet, chain: ChainKey(sending.chain.key, index: .max)), receiving: [],
      isEstablished: true)
    both.ann = last
    #expect(throws: OlmError.exhausted) { try both.annSays("one too many") }
    let sealed = NormalMessage.seal([], sending.chain.messageKey, ratchetKey: sending.ratchet.key, index: .max)
    #expect(throws: OlmError.exhausted) { try both.bob.decrypt(.normal(sealed)) }
  }

  @Test func `a text beyond the limit is refused`() throws {
    var both = try Correspondence()
    let text = [UInt8](repeating: 0x61, count: MessageLimits.plaintextBytes)
    #expect(try both.bob.decrypt(both.ann.encrypt(text, random: &both.random)) == text)
    #expect(throws: OlmError.malformed) { try both.ann.encrypt(text + [0x61], random: &both.random) }
    #expect(throws: OlmError.malformed) {
      try both.bob.decrypt(.normal([3] + [UInt8](repeating: 0, count: MessageLimits.messageBytes)))
    }
  }

  @Test func `other versions of messages are refused by name`() throws {
    var both = try Correspondence()
    var bytes = try both.annSays("text").body
    bytes[0] = 4
    #expect(throws: OlmError.unknownVersion) { try both.bob.decrypt(.preKey(bytes)) }
    #expect(throws: OlmError.unknownVersion) { try both.bob.decrypt(.normal(bytes)) }
    #expect(OlmMessage(type: 2, body: bytes) == nil)
  }

  @Test func `what vodozemac and libolm wrote is read`() throws {
    for (identity, oneTime, sender, id, messages) in [
      (
        KeptVectors.olmIdentity, KeptVectors.olmOneTime, KeptVectors.olmSender, KeptVectors.olmSessionID,
        KeptVectors.olmMessages
      ),
      (
        KeptVectors.libolmIdentity, KeptVectors.libolmOneTime, KeptVectors.libolmSender, KeptVectors.libolmSessionID,
        KeptVectors.libolmMessages
      )
    ] {
      var random = SecretSource.system
      var account = Account(
        signing: Ed25519KeyPair(from: &random), identity: try pair(identity),
        oneTimeKeys: [OneTimeKey(number: 1, pair: try pair(oneTime))], fallbackKey: nil, previousFallbackKey: nil, keysMade: 1)
      var (session, plaintext) = try account.accept(decode(messages[messages.count - 1].1), from: key(sender))
      #expect(plaintext == ascii(messages[messages.count - 1].0))
      #expect(session.id == ascii(id))
      #expect(account.oneTimeKeys.isEmpty)
      for (text, message) in messages.dropLast() { #expect(try session.decrypt(.preKey(decode(message))) == ascii(text)) }
    }
  }
}
