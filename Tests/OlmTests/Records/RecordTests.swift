import Testing

@testable import Olm

@Suite struct RecordTests {
  private var random = SecretSource.repeating(seed: ascii("records"))

  @Test mutating func `an account is read as it was written`() throws {
    var account = Account(random: &random)
    account.makeOneTimeKeys(100, random: &random)
    account.replaceFallbackKey(random: &random)
    account.markKeysAsPublished()
    account.replaceFallbackKey(random: &random)
    let again = try Account(record: account.record)
    #expect(again.record.isEqual(to: account.record))
    #expect(again.identity.key == account.identity.key && again.signing.key == account.signing.key)
    #expect(again.oneTimeKeys.map(\.name) == account.oneTimeKeys.map(\.name))
    #expect(again.fallbackKey?.isPublished == false && again.previousFallbackKey?.isPublished == true)
  }

  @Test func `a session goes on from each state it can be in`() throws {
    var both = try Correspondence()
    var late: [OlmMessage] = []
    for turn in 0..<8 {
      both.ann = try Session(record: both.ann.record)
      late.append(try both.annSays("late"))
      let message = try both.annSays("turn \(turn)")
      both.bob = try Session(record: both.bob.record)
      #expect(try both.bob.decrypt(message) == ascii("turn \(turn)"))
      both.bob = try Session(record: both.bob.record)
      let answer = try both.bobSays("answer \(turn)")
      both.ann = try Session(record: both.ann.record)
      #expect(try both.ann.decrypt(answer) == ascii("answer \(turn)"))
    }
    both.bob = try Session(record: both.bob.record)
    #expect(try both.bob.decrypt(#require(late.last)) == ascii("late"))
    #expect(both.ann.id == both.bob.id)
  }

  @Test mutating func `room sessions go on`() throws {
    var outbound = OutboundGroupSession(random: &random)
    var inbound = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    for number in 0..<3 {
      outbound = try OutboundGroupSession(record: outbound.record)
      inbound = try InboundGroupSession(record: inbound.record)
      #expect(try inbound.decrypt(outbound.encrypt(ascii("message"))).index == UInt32(number))
    }
    #expect(inbound.isSigned && inbound.id == outbound.id)
  }

  @Test mutating func `a shortened or longer record is refused`() throws {
    let both = try Correspondence()
    var account = Account(random: &random)
    account.makeOneTimeKeys(2, random: &random)
    let outbound = OutboundGroupSession(random: &random)
    let inbound = try InboundGroupSession(sharedKey: outbound.sharedKey.exposed())
    let kinds: [(Secret, (Secret) throws -> Void)] = [
      (account.record, { _ = try Account(record: $0) }), (both.ann.record, { _ = try Session(record: $0) }),
      (both.bob.record, { _ = try Session(record: $0) }), (outbound.record, { _ = try OutboundGroupSession(record: $0) }),
      (inbound.record, { _ = try InboundGroupSession(record: $0) })
    ]
    for (record, read) in kinds {
      try read(record)
      for count in 0..<record.count { #expect(throws: OlmError.malformed) { try read(record.part(0..<count)) } }
      #expect(throws: OlmError.malformed) { try read(Secret(joining: [record, Secret([0])])) }
      var newer = record.exposed()
      newer[1] += 1
      #expect(throws: OlmError.unknownVersion) { try read(Secret(newer)) }
      // Any byte may be damaged: an error or other keys, and no trap.
      for damaged in damaged(record.exposed()) { _ = try? read(Secret(damaged)) }
    }
  }

  @Test mutating func `a record of another kind is refused`() throws {
    let outbound = OutboundGroupSession(random: &random)
    #expect(throws: OlmError.malformed) { try Account(record: outbound.record) }
  }
}
