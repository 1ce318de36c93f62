import Testing

@testable import Olm

@Suite struct DehydratedAccountTests {
  private var random = SecretSource.repeating(seed: ascii("dehydrated accounts"))
  private let key = Secret([UInt8](repeating: 3, count: 32))

  private mutating func account(_ count: Int = 50, hasFallback: Bool = true) -> Account {
    var account = Account(random: &random)
    account.makeOneTimeKeys(count, random: &random)
    if hasFallback { account.replaceFallbackKey(random: &random) }
    account.markKeysAsPublished()
    return account
  }

  // Proves E11
  @Test func `a device with vodozemac's keys is opened and reads what was sent to it`() throws {
    let device = DehydratedAccount(
      sealed: try decode(KeptVectors.dehydratedSealed), nonce: try decode(KeptVectors.dehydratedNonce))
    var account = try device.open(with: Secret(decode(KeptVectors.dehydratedKey)))
    #expect(account.identity.key.text == ascii(KeptVectors.dehydratedIdentity))
    #expect(account.signing.key.text == ascii(KeptVectors.dehydratedSigning))
    #expect(account.oneTimeKeys.count == 2 && account.fallbackKey != nil)
    let message = try decode(KeptVectors.dehydratedMessage)
    let read = try account.accept(message, from: key(KeptVectors.dehydratedSender))
    #expect(read.plaintext == ascii("to a dehydrated device") && account.oneTimeKeys.count == 1)
  }

  private func key(_ base64: String) throws -> Curve25519Key { try #require(Curve25519Key(decode(base64))) }

  @Test(arguments: [(0, false), (0, true), (1, true), (50, true), (100, true)])
  mutating func `what is sealed is opened the same`(_ count: Int, _ hasFallback: Bool) throws {
    let account = account(count, hasFallback: hasFallback)
    let opened = try DehydratedAccount(account, with: key, random: &random).open(with: key)
    #expect(opened.identity.key == account.identity.key && opened.signing.key == account.signing.key)
    #expect(opened.oneTimeKeys.map(\.pair.key) == account.oneTimeKeys.map(\.pair.key))
    #expect(opened.fallbackKey?.pair.key == account.fallbackKey?.pair.key)
    let allPublished = opened.oneTimeKeys.allSatisfy(\.isPublished)
    #expect(allPublished)
  }

  @Test mutating func `another key, another nonce and each changed byte are told from a malformed device`() throws {
    let device = try DehydratedAccount(account(2), with: key, random: &random)
    #expect(throws: OlmError.wrongMAC) { try device.open(with: Secret([UInt8](repeating: 4, count: 32))) }
    #expect(throws: OlmError.malformed) { try device.open(with: Secret([3])) }
    let other = DehydratedAccount(sealed: device.sealed, nonce: [UInt8](repeating: 0, count: 12))
    #expect(throws: OlmError.wrongMAC) { try other.open(with: key) }
    for nonce in [[], [UInt8](repeating: 0, count: 11), [UInt8](repeating: 0, count: 24)] {
      #expect(throws: OlmError.malformed) { try DehydratedAccount(sealed: device.sealed, nonce: nonce).open(with: key) }
    }
    for sealed in damaged(device.sealed) {
      let reason = #expect(throws: OlmError.self) { try DehydratedAccount(sealed: sealed, nonce: device.nonce).open(with: key) }
      #expect(reason == .wrongMAC || reason == .malformed)
    }
  }

  /// Whoever has the key can write anything: it is refused, and never traps.
  @Test mutating func `what is no account under the right key is malformed`() throws {
    let account = account(1)
    let whole: [UInt8] =
      [0, 0, 0, 1] + account.identity.secret.exposed() + account.signing.seed.exposed() + [0, 0, 0, 1]
      + account.oneTimeKeys[0].pair.secret.exposed() + [0]
    #expect(try DehydratedAccount.account(from: Secret(whole)).oneTimeKeys.count == 1)
    #expect(try DehydratedAccount.account(from: Secret([0x80, 0, 0, 0] + whole[4...])).oneTimeKeys.count == 1)
    for version: UInt8 in [0, 2, 4] {
      #expect(throws: OlmError.unknownVersion) { try DehydratedAccount.account(from: Secret([0, 0, 0, version] + whole[4...])) }
    }
    for length in 0..<whole.count {
      #expect(throws: OlmError.malformed) { try DehydratedAccount.account(from: Secret(Array(whole[..<length]))) }
    }
    for count: [UInt8] in [[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 101], [255, 255, 255, 255]] {
      let changed = Array(whole[..<68]) + count + Array(whole[72...])
      #expect(throws: OlmError.malformed) { try DehydratedAccount.account(from: Secret(changed)) }
    }
    for ending: [UInt8] in [[1], [2], [0, 0], [1] + [UInt8](repeating: 1, count: 33)] {
      #expect(throws: OlmError.malformed) { try DehydratedAccount.account(from: Secret(whole.dropLast() + ending)) }
    }
  }
}
