import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct CrossSigningKeysTests {
  private let user = TestUser()

  private func read(_ user: TestUser, of name: UserID = bob) throws(IdentityRefusal) -> CrossSigningKeys? {
    guard let json = try? answer(of: [user]) else { return nil }
    return try CrossSigningKeys(json, of: name)
  }

  private func refusal(_ forge: (inout TestUser) throws -> Void) throws -> IdentityRefusal? {
    var forged = user
    try forge(&forged)
    do throws(IdentityRefusal) {
      _ = try read(forged)
      return nil
    } catch { return error }
  }

  @Test func `the three keys are read when the master key has signed the others`() throws {
    #expect(try read(user) == user.keys)
    #expect(user.keys.selfSigning == user.pairs.selfSigning.key && user.keys.userSigning == user.pairs.userSigning.key)
  }

  @Test func `a user without a master key has no identity, and a lesser key may be missing`() throws {
    #expect(try read(user, of: ann) == nil)
    var without = user
    without.leftOut = [.master]
    #expect(try read(without) == nil)
    without.leftOut = [.selfSigning, .userSigning]
    #expect(try read(without) == CrossSigningKeys(user: bob, master: user.keys.master))
  }

  @Test(arguments: CrossSigningUse.allCases)
  func `a key of another user, use or shape is refused`(_ use: CrossSigningUse) throws {
    let object = try #require(user.pairs.object(use, of: bob))
    func forged(_ key: StaticString, _ json: String) throws -> IdentityRefusal? {
      // Signed anew: the signature is not what is wrong.
      let changed = try object.replacing([key, "signatures"]) { $0.member(key, raw: Array(json.utf8)) }
      return try refusal { $0.forged[use] = changed.signed(by: bob, user.pairs.master) }
    }
    #expect(try forged("unsigned", "{}") == nil)
    #expect(try forged("user_id", #""@ann:one.example""#) == .ofAnother && forged("user_id", "7") == .ofAnother)
    for wrong in ["[]", #"["other"]"#, #"["master","self_signing"]"#, #"["\#(use.text)","\#(use.text)"]"#, "7"] {
      #expect(try forged("usage", wrong) == .wrongUse)
    }
    let (key, other) = (user.keys[use]!.name.string, TestUser(seed: "other").keys.master.name.string)
    #expect(try forged("keys", #"{"ed25519:\#(key)":"\#(key)"}"#) == nil)
    #expect(try forged("keys", "{}") == .notOneKey && forged("keys", "7") == .notOneKey)
    #expect(try forged("keys", #"{"ed25519:\#(key)":"\#(key)","ed25519:\#(other)":"\#(other)"}"#) == .notOneKey)
    for wrong in [
      #""ed25519:PHONE":"\#(key)""#, #""ed25519:\#(other)":"\#(key)""#, #""ed25519:\#(key)":"AAAA""#, #""ed25519:\#(key)":7"#
    ] {
      #expect(try forged("keys", "{\(wrong)}") == .malformed)
    }
  }

  @Test(arguments: [CrossSigningUse.selfSigning, .userSigning])
  func `a lesser key without the master key's signature is refused`(_ use: CrossSigningUse) throws {
    let object = try #require(CrossSigningKeys.object(user.pairs[use].key, of: bob, use))
    #expect(try refusal { $0.forged[use] = object } == .wrongSignature)
    #expect(try refusal { $0.forged[use] = object.signed(by: bob, TestUser(seed: "other").pairs.master) } == .wrongSignature)
    // Right by its name, but made by another key.
    let stranger = TestUser(seed: "other").pairs.master
    #expect(try refusal { $0.forged[use] = object.signed(by: bob, user.keys.master.keyID, stranger) } == .wrongSignature)
    #expect(try refusal { $0.forged[use] = object.signed(by: ann, user.pairs.master) } == .wrongSignature)
    #expect(try refusal { $0.forged[use] = object.signed(by: bob, user.pairs.master) } == nil)
  }

  @Test func `a device is signed by the key of its user that has signed it`() throws {
    let device = TestDevice()
    let published = try device.published()
    func signer(_ json: JSON?, _ key: Ed25519Key?) throws -> Ed25519Key? {
      try DeviceKeys(try #require(json), of: bob, device.own.device, selfSigning: key).signer
    }
    let key = user.pairs.selfSigning.key
    #expect(try signer(published.signed(by: bob, user.pairs.selfSigning), key) == key)
    #expect(try signer(published, key) == nil)
    #expect(try signer(published.signed(by: bob, user.pairs.selfSigning), nil) == nil)
    #expect(try signer(published.signed(by: bob, user.pairs.selfSigning), user.pairs.master.key) == nil)
    #expect(try signer(published.signed(by: bob, key.keyID, user.pairs.master), key) == nil)
    #expect(try signer(published.signed(by: ann, user.pairs.selfSigning), key) == nil)
  }
}
