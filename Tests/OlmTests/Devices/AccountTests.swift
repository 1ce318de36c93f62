import Testing

@testable import Olm

@Suite struct AccountTests {
  private var random = SecretSource.repeating(seed: ascii("accounts"))

  /// A pre-key message to the key, and its sender.
  private mutating func message(to account: Account, with key: Curve25519Key) throws -> (bytes: [UInt8], sender: Curve25519Key)
  {
    let sender = Account(random: &random)
    var session = try sender.session(to: account.identity.key, oneTime: key, random: &random)
    return (bytes: try session.encrypt(ascii("hello"), random: &random).body, sender: sender.identity.key)
  }

  @Test mutating func `a one-time key begins one session`() throws {
    var account = Account(random: &random)
    account.makeOneTimeKeys(2, random: &random)
    let first = try message(to: account, with: account.oneTimeKeys[0].pair.key)
    #expect(try account.accept(first.bytes, from: first.sender).plaintext == ascii("hello"))
    #expect(account.oneTimeKeys.count == 1)
    #expect(throws: OlmError.unknownOneTimeKey) { try account.accept(first.bytes, from: first.sender) }
  }

  @Test mutating func `a message that cannot be read does not use up its key`() throws {
    var account = Account(random: &random)
    account.makeOneTimeKeys(1, random: &random)
    var (bytes, sender) = try message(to: account, with: account.oneTimeKeys[0].pair.key)
    bytes[bytes.count - 1] ^= 1
    #expect(throws: OlmError.wrongMAC) { try account.accept(bytes, from: sender) }
    bytes[bytes.count - 1] ^= 1
    #expect(throws: OlmError.wrongSender) { try account.accept(bytes, from: account.identity.key) }
    #expect(account.oneTimeKeys.count == 1)
    #expect(try account.accept(bytes, from: sender).plaintext == ascii("hello"))
  }

  @Test mutating func `a fallback key begins many sessions until the one after the next`() throws {
    var account = Account(random: &random)
    account.replaceFallbackKey(random: &random)
    let key = try #require(account.fallbackKey?.pair.key)
    for _ in 0..<2 {
      let (bytes, sender) = try message(to: account, with: key)
      #expect(try account.accept(bytes, from: sender).plaintext == ascii("hello"))
    }
    account.replaceFallbackKey(random: &random)
    let (late, sender) = try message(to: account, with: key)
    #expect(try account.accept(late, from: sender).plaintext == ascii("hello"))
    account.forgetPreviousFallbackKey()
    #expect(throws: OlmError.unknownOneTimeKey) { try account.accept(late, from: sender) }
  }

  @Test mutating func `the newest 100 one-time keys are kept, each with a name of its own`() {
    var account = Account(random: &random)
    account.makeOneTimeKeys(60, random: &random)
    account.markKeysAsPublished()
    account.makeOneTimeKeys(60, random: &random)
    #expect(account.oneTimeKeys.count == 100)
    #expect(account.oneTimeKeys.first?.number == 21)
    #expect(account.oneTimeKeys.filter(\.isPublished).count == 40)
    #expect(Set(account.oneTimeKeys.map(\.name)).count == 100)
    #expect(account.oneTimeKeys.first?.name == ascii("0000000000000015"))
    let names = account.oneTimeKeys.map { String(decoding: $0.name, as: UTF8.self) }
    #expect(names == names.sorted())
    account.makeOneTimeKeys(-1, random: &random)
    account.makeOneTimeKeys(.max, random: &random)
    #expect(account.oneTimeKeys.count == 100)
  }

  @Test(arguments: weakPoints)
  func `no session begins with a weak key`(point: String) throws {
    var random = SecretSource.system
    let weak = try #require(Curve25519Key(hex(point)))
    let account = Account(random: &random)
    #expect(throws: OlmError.weakKey) { try account.session(to: weak, oneTime: account.identity.key, random: &random) }
    #expect(throws: OlmError.weakKey) { try account.session(to: account.identity.key, oneTime: weak, random: &random) }
  }

  @Test mutating func `a damaged pre-key message is refused`() throws {
    var account = Account(random: &random)
    account.replaceFallbackKey(random: &random)
    let (bytes, sender) = try message(to: account, with: try #require(account.fallbackKey?.pair.key))
    for damaged in damaged(bytes) { #expect(throws: OlmError.self) { try account.accept(damaged, from: sender) } }
  }
}
