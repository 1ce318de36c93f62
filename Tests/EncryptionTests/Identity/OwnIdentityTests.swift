import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct OwnIdentityTests {
  private let tablet = TestDevice(of: ann, DeviceID(trusted: "TABLET"), seed: "a tablet")

  private func fresh() -> OwnIdentity { OwnIdentity(user: ann, device: tablet.own.device) }

  /// What a crash leaves.
  private func restarted(_ own: OwnIdentity) throws -> OwnIdentity { try OwnIdentity(record: own.record) }

  private func setUp() throws -> OwnIdentity {
    var (own, random) = (fresh(), SecretSource.repeating(seed: [1]))
    own.beginSetup(random: &random)
    own.setupAccepted(for: tablet.own)
    own.uploaded(try #require(own.signatures))
    return own
  }

  // MARK: Setting up

  @Test func `a setup uploads three keys, then signs the device and the master key`() throws {
    var (own, random) = (fresh(), SecretSource.repeating(seed: [1]))
    #expect(own.setupBody() == nil && own.signatures == nil && !own.isVerified)
    own.beginSetup(random: &random)
    let body = try JSON.parse(try #require(own.setupBody()))
    #expect(body["auth"] == nil && !own.isVerified && own.signatures == nil)
    let keys = try #require(try CrossSigningKeys(serverAnswer(body), of: ann))
    #expect(keys.selfSigning != nil && keys.userSigning != nil)
    let authenticated = try JSON.parse(try #require(own.setupBody(authentication: try parsed(#"{"type":"m.login.dummy"}"#))))
    #expect(authenticated["auth"]?.text("type") == "m.login.dummy")
    #expect(try authenticated.replacing(["auth"]) { _ in }.bytes.elementsEqual(body.bytes))

    own.setupAccepted(for: tablet.own)
    #expect(own.setupBody() == nil && own.isVerified && own.keys == keys)
    for use in CrossSigningUse.allCases { #expect(own.holds(use)) }
    let upload = try #require(own.signatures), signatures = try JSON.parse(upload.body)
    let device = try #require(signatures[ann.text]?["TABLET"]), master = try #require(signatures[ann.text]?[keys.master.name])
    #expect(signatures[ann.text]?.members.map(\.key).count == 2)
    #expect(try DeviceKeys(device, of: ann, tablet.own.device, selfSigning: keys.selfSigning).signer == keys.selfSigning)
    #expect(master.isSigned(by: ann, "ed25519:TABLET", tablet.own.account.signing.key))
    #expect(try CrossSigningKeys.key(master, of: ann, .master) == keys.master)
    own.uploaded(upload)
    #expect(own.signatures == nil)
  }

  /// What `/keys/query` answers once the server has taken the body.
  private func serverAnswer(_ body: JSON) throws -> JSON {
    let parts: [(StaticString, StaticString)] = [
      ("master_key", "master_keys"), ("self_signing_key", "self_signing_keys"), ("user_signing_key", "user_signing_keys")
    ]
    return try JSON.object { writer in
      for (member, part) in parts {
        writer.key(part)
        writer.object { writer in
          guard let key = body[member] else { return }
          writer.key(ann)
          writer.write(key)
        }
      }
    }
  }

  @Test func `a setup goes on after a crash at each step, with the same keys`() throws {
    var (own, random) = (fresh(), SecretSource.system)
    own.beginSetup(random: &random)
    let body = try #require(own.setupBody())
    own = try restarted(own)
    own.beginSetup(random: &random)
    #expect(own.setupBody() == body)
    // The server has taken them, and the answer was lost: the list of the own keys may come first.
    let listed = try CrossSigningKeys(serverAnswer(try JSON.parse(body)), of: ann), isNews = own.take(try #require(listed))
    #expect(!isNews)
    #expect(own.identity == nil && own.setupBody() == body)
    own.setupAccepted(for: tablet.own)
    let upload = try #require(own.signatures)
    own = try restarted(own)
    #expect(own.setupBody() == nil && own.isVerified && own.signatures == upload)
    own.uploaded(upload)
    own = try restarted(own)
    #expect(own.signatures == nil && own.isVerified && own.holds(.master))
  }

  @Test func `a setup that the user cancels leaves the identity as it was`() throws {
    var (own, random) = (try setUp(), SecretSource.system)
    let keys = own.keys
    own.beginSetup(random: &random)
    #expect(own.setupBody() != nil && own.isVerified, "the keys before count until the server has others")
    own.cancelSetup()
    own.setupAccepted(for: tablet.own)
    #expect(own.keys == keys && own.isVerified && own.signatures == nil)
  }

  // Proves E6
  @Test func `a reset replaces the identity and keeps the key before`() throws {
    var (own, random) = (try setUp(), SecretSource.system)
    let before = try #require(own.keys)
    own.beginSetup(random: &random)
    own.setupAccepted(for: tablet.own)
    let after = try #require(own.identity)
    #expect(after.keys.master != before.master && after.previous == before.master && after.change == nil)
    #expect(own.isVerified && own.holds(.userSigning) && !own.isDeviceSigned && own.signatures?.objects.count == 2)
  }

  // MARK: The server's keys

  @Test func `an identity that another device made is not verified`() throws {
    var known = Knowledge()
    var user = TestUser(ann, seed: "elsewhere")
    try user.addUnsigned(known.device)
    #expect(try known.learn([user]).identities == [.appeared(ann), .ownSignerChanged])
    #expect(!known.identities.own.isVerified && !known.identities.own.isDeviceSigned)
    for use in CrossSigningUse.allCases { #expect(!known.identities.own.holds(use)) }
    let isStale = known.identities.own.verify(TestUser(ann, seed: "other").keys.master)
    #expect(!isStale && !known.identities.own.signDevice(known.device.own))
    let isVerified = known.identities.own.verify(user.keys.master)
    #expect(isVerified && known.identities.own.isVerified && !known.identities.own.holds(.master))
  }

  @Test func `an identity in place of the own one is not trusted, and signs nothing`() throws {
    var known = Knowledge()
    let own = try known.setUp()
    try known.learn([own])
    #expect(known.identities.own.isDeviceSigned && known.identities.isVerified(ann))
    var other = TestUser(ann, seed: "the server's")
    try other.addUnsigned(known.device)
    #expect(try known.learn([other]).identities == [.changed(ann), .ownSignerChanged])
    #expect(!known.identities.own.isVerified && known.identities.own.identity?.change == .ofVerified)
    #expect(!known.identities.own.holds(.selfSigning) && known.identities.own.secret(.master) == nil)
    let isSigned = known.identities.own.signDevice(known.device.own)
    #expect(!isSigned)
    // The user confirms that they have reset it elsewhere.
    let isVerified = known.identities.own.verify(other.keys.master)
    #expect(isVerified && known.identities.own.isVerified && known.identities.own.identity?.previous == own.keys.master)
    #expect(!known.identities.own.holds(.selfSigning), "its private keys are elsewhere")
  }

  @Test func `a server that hides this device or its signature is noticed`() throws {
    var known = Knowledge()
    let own = try known.setUp()
    #expect(try known.learn([own]).identities.isEmpty)
    var (unsigned, without, another) = (own, own, own)
    unsigned.devices = []
    try unsigned.addUnsigned(known.device)
    without.devices = []
    another.devices = []
    var laptop = own
    try laptop.add(TestDevice(of: ann, DeviceID(trusted: "LAPTOP"), seed: "a laptop"))
    another.devices = [(known.device.own.device, laptop.devices[1].keys)]
    for old in [unsigned, without, another] {
      var known = known
      #expect(try known.learn([old]).identities == [.ownDeviceHidden])
      #expect(!known.identities.own.isDeviceSigned)
      #expect(try known.learn([old]).identities.isEmpty, "told once")
      #expect(try known.learn([own]).identities.isEmpty && known.identities.own.isDeviceSigned)
    }
  }

  // MARK: Private keys

  @Test func `private keys are taken when they fit, and the master key proves the identity`() throws {
    let elsewhere = TestUser(ann, seed: "elsewhere"), other = TestUser(ann, seed: "other")
    var known = Knowledge()
    try known.learn([elsewhere])
    for use in CrossSigningUse.allCases {
      let isTaken = known.identities.own.take(other.pairs[use].seed, as: use)
      #expect(!isTaken)
      let isShortTaken = known.identities.own.take(Secret([1, 2, 3]), as: use)
      #expect(!isShortTaken)
    }
    let isOtherUseTaken = known.identities.own.take(elsewhere.pairs.master.seed, as: .selfSigning)
    #expect(!isOtherUseTaken)
    let lesser = known.identities.own.take(elsewhere.pairs.selfSigning.seed, as: .selfSigning)
    #expect(lesser && known.identities.own.holds(.selfSigning) && !known.identities.own.isVerified)
    let isSigned = known.identities.own.signDevice(known.device.own)
    #expect(!isSigned, "it is not known whose key that is")
    let master = known.identities.own.take(elsewhere.pairs.master.seed, as: .master)
    #expect(master && known.identities.own.isVerified && known.identities.own.signDevice(known.device.own))
    #expect(known.identities.own.secret(.master)?.isEqual(to: elsewhere.pairs.master.seed) ?? false)
    #expect(known.identities.own.secret(.userSigning) == nil)
  }

  // MARK: Signing

  @Test func `another own device is signed as the server gives it, if it has the verified keys`() throws {
    var own = try setUp()
    let laptop = TestDevice(of: ann, DeviceID(trusted: "LAPTOP"), seed: "a laptop")
    let listed = try laptop.published().replacing(["unsigned", "extra"]) { writer in
      writer.member("extra", 7)
      writer.member("unsigned", raw: Array(#"{"device_display_name":"Laptop"}"#.utf8))
    }
    let isChangedSigned = own.sign(listed, of: laptop.own.deviceKeys)
    #expect(!isChangedSigned, "what is signed was changed")
    let published = try laptop.published().replacing(["unsigned"]) { $0.member("unsigned", raw: Array("{}".utf8)) }
    let isThiefSigned = own.sign(published, of: TestDevice(of: ann, laptop.own.device, seed: "a thief").own.deviceKeys)
    #expect(!isThiefSigned)
    let isForeignSigned = try own.sign(TestDevice().published(), of: TestDevice().own.deviceKeys)
    #expect(!isForeignSigned, "a device of another user")
    let isSigned = own.sign(published, of: laptop.own.deviceKeys),
      isSignedAgain = own.sign(published, of: laptop.own.deviceKeys)
    #expect(isSigned && isSignedAgain && own.signatures?.objects.count == 1)
    let upload = try #require(own.signatures)
    let object = try #require(try JSON.parse(upload.body)[ann.text]?["LAPTOP"])
    #expect(
      try DeviceKeys(object, of: ann, laptop.own.device, selfSigning: own.keys?.selfSigning).signer == own.keys?.selfSigning)
    #expect(object["unsigned"] == nil)
  }

  @Test func `a master key with more in it than a key has is not signed`() throws {
    var own = try setUp()
    var random = SecretSource.repeating(seed: [1])
    let (anns, bobs) = (TestUser(ann, CrossSigningPairs(random: &random)), TestUser())
    func signs(_ members: String) throws -> Bool {
      let extra = try parsed(members)
      func more(_ object: JSON?) throws -> JSON {
        try #require(object).replacing([]) { writer in
          for member in extra.members {
            writer.key(member.key)
            writer.write(member.value)
          }
        }
      }
      let isOwnSigned = own.signMaster(try more(try anns.object(.master)), by: tablet.own)
      let isOtherSigned = own.sign(try more(try bobs.object(.master)), of: UserIdentity(bobs.keys))
      #expect(isOwnSigned == isOtherSigned)
      return isOwnSigned
    }
    // With these members it would also be a backup's description, and a one-time key.
    for hostile in [#"{"public_key":"x"}"#, #"{"key":"x"}"#, #"{"\u0061":1}"#] { #expect(try !signs(hostile)) }
    #expect(try signs(#"{"unsigned":{"x":1}}"#))
  }

  @Test func `signatures that come while others are uploaded are uploaded next`() throws {
    var (own, random) = (fresh(), SecretSource.system)
    own.beginSetup(random: &random)
    own.setupAccepted(for: tablet.own)
    let upload = try #require(own.signatures)
    let laptop = TestDevice(of: ann, DeviceID(trusted: "LAPTOP"), seed: "a laptop")
    _ = own.sign(try laptop.published(), of: laptop.own.deviceKeys)
    own.uploaded(upload)
    #expect(own.signatures?.objects.map(\.name) == ["LAPTOP"])
  }

  // MARK: Store

  @Test func `a damaged record is refused`() throws {
    var (own, random) = (try setUp(), SecretSource.system)
    own.beginSetup(random: &random)
    let record = own.record
    #expect(try restarted(own).record == record)
    for end in record.indices { #expect(throws: RecordRefusal.self) { try OwnIdentity(record: [UInt8](record[..<end])) } }
    let json = try JSON.parse(record)
    for key: StaticString in ["user", "device", "signed"] {
      #expect(throws: RecordRefusal.unreadable) { try OwnIdentity(record: Array(try json.replacing([key]) { _ in }.bytes)) }
    }
    for (key, wrong) in [
      ("identity", "{}"), ("private", "[7]"), ("private", #"[{"use":9,"key":"AAAA"}]"#),
      ("private", #"[{"use":1,"key":"AAAA"}]"#),
      ("setup", "[]"), ("unsent", "[{}]"), ("verified", #""AAAA""#)
    ] as [(StaticString, String)] {
      let changed = try json.replacing([key]) { $0.member(key, raw: Array(wrong.utf8)) }
      #expect(throws: RecordRefusal.unreadable) { try OwnIdentity(record: Array(changed.bytes)) }
    }
  }
}
