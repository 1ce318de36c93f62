import Testing

@testable import Olm

@Suite struct SASTests {
  @Test func `both sides see the same`() throws {
    var random = SecretSource.system
    let (ann, bob) = (SAS(random: &random), SAS(random: &random))
    let (anns, bobs) = (try ann.agree(with: bob.key), try bob.agree(with: ann.key))
    #expect(anns.emoji(info: ascii("i")) == bobs.emoji(info: ascii("i")))
    #expect(anns.decimals(info: ascii("i")) == bobs.decimals(info: ascii("i")))
    #expect(anns.emoji(info: ascii("i")).count == 7 && anns.emoji(info: ascii("i")).allSatisfy { $0 < 64 })
    #expect(anns.decimals(info: ascii("i")).allSatisfy { (1_000...9_191).contains($0) })
    let mac = anns.mac(of: ascii("key"), info: ascii("i"))
    #expect(bobs.verifies(mac, of: ascii("key"), info: ascii("i")))
    #expect(bobs.verifies(mac + ascii("="), of: ascii("key"), info: ascii("i")))
    #expect(!bobs.verifies(mac, of: ascii("other key"), info: ascii("i")))
    #expect(!bobs.verifies(mac, of: ascii("key"), info: ascii("other")))
    for mac in damaged(mac) { #expect(!bobs.verifies(mac, of: ascii("key"), info: ascii("i"))) }
  }

  @Test func `the deprecated encoding is verified as it is written, and by no other`() throws {
    var random = SecretSource.system
    let (ann, bob) = (SAS(random: &random), SAS(random: &random))
    let (anns, bobs) = (try ann.agree(with: bob.key), try bob.agree(with: ann.key))
    let (key, info) = (ascii("key"), ascii("i"))
    let old = anns.mac(of: key, info: info, .overwritten)
    #expect(old.count == 43 && bobs.verifies(old, of: key, info: info, .overwritten))
    #expect(!bobs.verifies(old, of: key, info: info))
    #expect(!bobs.verifies(anns.mac(of: key, info: info), of: key, info: info, .overwritten))
    #expect(!bobs.verifies(old, of: ascii("other key"), info: info, .overwritten))
    for mac in damaged(old) { #expect(!bobs.verifies(mac, of: key, info: info, .overwritten)) }
  }

  @Test(arguments: weakPoints)
  func `a weak key ends the verification`(point: String) throws {
    var random = SecretSource.system
    let weak = try #require(Curve25519Key(hex(point)))
    #expect(throws: OlmError.weakKey) { try SAS(random: &random).agree(with: weak) }
  }

  @Test func `what vodozemac computed is seen`() throws {
    let shared = SharedSAS(try pair(KeptVectors.sasSecret).agree(with: key(KeptVectors.sasKey)))
    #expect(shared.emoji(info: ascii("info")) == KeptVectors.sasEmoji)
    #expect(shared.decimals(info: ascii("info")) == KeptVectors.sasDecimals)
    #expect(shared.mac(of: ascii("key"), info: ascii("info")) == ascii(KeptVectors.sasMAC))
    #expect(shared.mac(of: ascii("key"), info: ascii("info"), .overwritten) == ascii(KeptVectors.sasOverwrittenMAC))
  }
}
