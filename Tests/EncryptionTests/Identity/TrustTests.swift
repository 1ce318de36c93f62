import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct TrustTests {
  private let phone = TestDevice(), laptop = TestDevice(of: bob, DeviceID(trusted: "LAPTOP"), seed: "a laptop")
  private let desk = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "a desk")

  /// Ann on her tablet, with a signed device at her desk, and Bob with a signed phone and an unsigned laptop.
  private func known(isVerified: Bool = false) throws -> (Knowledge, ann: TestUser, bob: TestUser) {
    var known = Knowledge()
    var own = try known.setUp()
    try own.add(desk)
    var bobs = TestUser()
    try bobs.add(phone)
    try bobs.addUnsigned(laptop)
    if isVerified { bobs.signed(by: own) }
    try known.learn([own, bobs])
    return (known, own, bobs)
  }

  private func keys(_ devices: TestDevice...) -> Set<Ed25519Key> { Set(devices.map(\.own.account.signing.key)) }

  private func shared(_ known: Knowledge, _ policy: SharingPolicy = SharingPolicy(readers: .signed)) throws -> (
    readers: Set<Ed25519Key>, unverified: Set<Ed25519Key>, excluded: Set<Ed25519Key>
  ) {
    let recipients = try known.trust(policy).recipients([bob, ann])
    func withheld(_ code: WithheldCode) -> Set<Ed25519Key> {
      Set(recipients.withheld.filter { $0.code == code }.map(\.device.signing))
    }
    #expect(
      recipients.readers.count + recipients.withheld.count == Set(recipients.readers + recipients.withheld.map(\.device)).count)
    #expect(recipients.withheld.allSatisfy { $0.code == .unverified || $0.code == .blacklisted })
    return (Set(recipients.readers.map(\.signing)), withheld(.unverified), withheld(.blacklisted))
  }

  private func block(_ known: Knowledge, _ policy: SharingPolicy = SharingPolicy(readers: .signed)) -> SharingBlock? {
    do throws(SharingBlock) {
      _ = try known.trust(policy).recipients([bob])
      return nil
    } catch { return error }
  }

  // MARK: Sending

  @Test func `signed devices get keys, and unsigned ones are told that they are not verified`() throws {
    let shared = try shared(known().0)
    #expect(shared.readers == keys(desk, phone) && shared.unverified == keys(laptop) && shared.excluded.isEmpty)
  }

  @Test func `only devices of verified users get keys when the policy says so`() throws {
    let policy = SharingPolicy(readers: .verified)
    let unverified = try shared(known().0, policy)
    #expect(unverified.readers == keys(desk) && unverified.unverified == keys(phone, laptop))
    let verified = try shared(known(isVerified: true).0, policy)
    #expect(verified.readers == keys(desk, phone) && verified.unverified == keys(laptop))
  }

  @Test func `all devices get keys when the policy says so`() throws {
    let shared = try shared(known().0, SharingPolicy(readers: .all))
    #expect(shared.readers == keys(desk, phone, laptop) && shared.unverified.isEmpty)
  }

  @Test(arguments: SharingPolicy.Readers.allCases)
  func `an excluded device gets no key under any policy`(_ readers: SharingPolicy.Readers) throws {
    var policy = SharingPolicy(readers: readers)
    policy.excluded = keys(phone, desk)
    let shared = try shared(known(isVerified: true).0, policy)
    #expect(shared.readers.isDisjoint(with: keys(phone, desk)) && shared.excluded == keys(phone, desk))
  }

  @Test func `a device that does not read rooms is left out`() throws {
    var known = Knowledge()
    var bobs = TestUser()
    let keys = phone.own.deviceKeys
    let object = try phone.published().replacing(["algorithms", "signatures"]) {
      $0.array("algorithms", [Algorithm.olm]) { $1.write($0) }
    }
    let signed = object.signed(by: bob, DeviceKeys.keyID(of: keys.device), phone.own.account.signing)?
      .signed(by: bob, bobs.pairs.selfSigning)
    bobs.devices = [(keys.device, try #require(signed))]
    try known.learn([bobs])
    #expect(known.tracker.device(keys.device, of: bob)?.signer == bobs.keys.selfSigning)
    let recipients = try known.trust().recipients([bob])
    #expect(recipients.readers.isEmpty && recipients.withheld.isEmpty)
  }

  @Test func `a user without cross-signing gets keys only under the policy for all`() throws {
    var known = Knowledge()
    var bobs = TestUser()
    bobs.leftOut = [.master, .selfSigning, .userSigning]
    try bobs.add(phone)
    try known.learn([bobs, TestUser(ann, seed: "ann")])
    #expect(try shared(known).readers.isEmpty && shared(known).unverified == keys(phone))
    #expect(try shared(known, SharingPolicy(readers: .all)).readers == keys(phone))
    #expect(known.trust().withoutIdentity([ann, bob]) == [bob])
    #expect(known.trust().withoutIdentity([UserID(trusted: "@carl:one.example")]).isEmpty, "there is nobody to miss it")
  }

  @Test func `under the default policy a user without cross-signing gets keys, and another only for signed devices`() throws {
    #expect(try shared(known().0, SharingPolicy()).readers == keys(desk, phone))
    var known = Knowledge()
    var bots = TestUser()
    bots.leftOut = [.master, .selfSigning, .userSigning]
    try bots.addUnsigned(phone)
    try known.learn([bots])
    #expect(try shared(known, SharingPolicy()).readers == keys(phone))
    // An identity that was seen once stays, also if the server hides it.
    var bobs = TestUser()
    try bobs.addUnsigned(phone)
    try known.learn([bobs])
    #expect(try shared(known, SharingPolicy()).readers == keys(phone), "the signature may be on its way")
    try bobs.add(laptop)
    try known.learn([bobs])
    #expect(try shared(known, SharingPolicy()).readers == keys(laptop))
    try bots.addUnsigned(laptop)
    try known.learn([bots])
    #expect(try shared(known, SharingPolicy()).readers.isEmpty)
  }

  // Proves E7
  @Test func `a changed identity blocks sending until the user has dealt with it`() throws {
    var (known, _, _) = try known()
    var changed = TestUser(seed: "changed")
    try changed.add(phone)
    try known.learn([changed])
    #expect(block(known) == .identitiesChanged([bob]))
    #expect(block(known, SharingPolicy(readers: .all)) == nil && block(known, SharingPolicy(readers: .verified)) == nil)
    #expect(try shared(known, SharingPolicy(readers: .verified)).readers == keys(desk), "it gets nothing all the same")
    _ = known.identities.acknowledge(bob, changed.keys.master)
    #expect(block(known) == nil)
    #expect(try shared(known).readers == keys(desk, phone))
  }

  @Test(arguments: SharingPolicy.Readers.allCases)
  func `a changed identity of a verified user blocks sending under every policy`(_ readers: SharingPolicy.Readers) throws {
    var (known, _, _) = try known(isVerified: true)
    let changed = TestUser(seed: "changed")
    try known.learn([changed])
    #expect(block(known, SharingPolicy(readers: readers)) == .verifiedIdentitiesChanged([bob]))
    _ = known.identities.withdrawVerification(of: bob, changed.keys.master)
    #expect(block(known, SharingPolicy(readers: readers)) == nil)
  }

  @Test func `an unverified device sends only if the policy lets it`() throws {
    let strict = SharingPolicy(sendsUnverified: false)
    var known = Knowledge()
    #expect(block(known, strict) == .ownDeviceUnverified(of: ann) && block(known) == nil)
    let own = try known.setUp()
    #expect(block(known, strict) == .ownDeviceUnverified(of: ann), "the server does not have its signature yet")
    try known.learn([own])
    #expect(block(known, strict) == nil)
    try known.learn([TestUser(ann, seed: "another")])
    #expect(block(known, strict) == .ownDeviceUnverified(of: ann))
  }

  @Test func `devices that another own identity has signed get no keys`() throws {
    var (known, _, _) = try known()
    var other = TestUser(ann, seed: "the server's")
    try other.add(desk)
    try known.learn([other])
    #expect(try shared(known).readers == keys(phone) && shared(known).unverified == keys(desk, laptop))
  }

  @Test func `a policy is restored as it was stored, and a damaged one is refused`() throws {
    for readers in SharingPolicy.Readers.allCases {
      var policy = SharingPolicy(readers: readers, sendsUnverified: readers == .all)
      policy.excluded = keys(phone, desk)
      #expect(try SharingPolicy(record: policy.record) == policy)
    }
    for (key, wrong) in [
      ("readers", "9"), ("sends_unverified", "1"), ("excluded", #"["AAAA"]"#), ("excluded", "[7]")
    ] as [(StaticString, String)] {
      let json = try JSON.parse(SharingPolicy().record).replacing([key]) { $0.member(key, raw: Array(wrong.utf8)) }
      #expect(throws: RecordRefusal.unreadable) { try SharingPolicy(record: Array(json.bytes)) }
    }
  }

  // MARK: Receiving

  private func trust(_ known: Knowledge, in device: TestDevice, of user: UserID? = nil) -> SenderTrust {
    let account = device.own.account
    let owner = RoomKey.Owner(user: user ?? device.own.user, identity: account.identity.key, signing: account.signing.key)
    return known.trust().trust(in: .proven(owner))
  }

  @Test func `an event is trusted as far as its device and user are`() throws {
    let (pinned, _, _) = try known(), (verified, _, _) = try known(isVerified: true)
    #expect(trust(pinned, in: phone) == .pinned && trust(verified, in: phone) == .verified)
    #expect(trust(pinned, in: laptop) == .unsignedDevice && trust(verified, in: laptop) == .unsignedDevice)
    #expect(trust(pinned, in: TestDevice(seed: "another")) == .unknownDevice)
    #expect(trust(pinned, in: phone, of: ann) == .unknownDevice, "another user's device of the same keys")
    #expect(trust(pinned, in: pinned.device) == .verified && trust(pinned, in: desk) == .verified)
    let key = phone.own.account.identity.key
    #expect(pinned.trust().trust(in: .claimed(identity: key)) == .notProven(key))
  }

  @Test func `a device whose keys agree only in part is unknown`() throws {
    let (known, _, _) = try known()
    let (one, other) = (phone.own.account, TestDevice(seed: "another").own.account)
    for owner in [
      RoomKey.Owner(user: bob, identity: one.identity.key, signing: other.signing.key),
      RoomKey.Owner(user: bob, identity: other.identity.key, signing: one.signing.key)
    ] { #expect(known.trust().trust(in: .proven(owner)) == .unknownDevice) }
    let own = known.device.own.account
    let forged = RoomKey.Owner(user: ann, identity: own.identity.key, signing: other.signing.key)
    #expect(known.trust().trust(in: .proven(forged)) == .unknownDevice)
  }

  @Test func `events of the own user's unsigned devices are not trusted`() throws {
    var known = Knowledge()
    var own = try known.setUp()
    try own.addUnsigned(desk)
    try known.learn([own])
    #expect(trust(known, in: desk) == .unsignedDevice)
    #expect(!known.trust().isVerifiedOwn(desk.own.deviceKeys))
  }

  @Test func `all events of a user whose identity changed say so`() throws {
    var (known, _, _) = try known()
    var changed = TestUser(seed: "changed")
    try changed.add(phone)
    try known.learn([changed])
    #expect(trust(known, in: phone) == .identityChanged && trust(known, in: TestDevice(seed: "another")) == .identityChanged)
    _ = known.identities.acknowledge(bob, changed.keys.master)
    #expect(trust(known, in: phone) == .pinned)
  }

  @Test func `trust in the owner of a session only rises`() {
    let key = phone.own.account.identity.key
    let ranks: [SenderTrust] = [.unknownDevice, .unsignedDevice, .pinned, .verified]
    for (before, now) in ranks.enumerated().flatMap({ one in ranks.enumerated().map { (one, $0) } }) {
      #expect(now.element.raised(from: before.element) == ranks[max(before.offset, now.offset)])
    }
    #expect(SenderTrust.identityChanged.raised(from: .verified) == .identityChanged)
    #expect(SenderTrust.pinned.raised(from: .identityChanged) == .pinned && SenderTrust.pinned.raised(from: nil) == .pinned)
    #expect(SenderTrust.unknownDevice.raised(from: .notProven(key)) == .unknownDevice)
  }

  @Test func `own devices are verified by the verified own identity`() throws {
    var (known, _, _) = try known()
    #expect(known.trust().isVerifiedOwn(try #require(known.tracker.device(desk.own.device, of: ann))))
    #expect(
      !known.trust().isVerifiedOwn(try #require(known.tracker.device(known.device.own.device, of: ann))), "that is this one")
    #expect(!known.trust().isVerifiedOwn(try #require(known.tracker.device(phone.own.device, of: bob))))
    var policy = SharingPolicy(readers: .signed)
    policy.excluded = keys(desk)
    #expect(!known.trust(policy).isVerifiedOwn(try #require(known.tracker.device(desk.own.device, of: ann))))
    try known.learn([TestUser(ann, seed: "another")])
    #expect(!known.trust().isVerifiedOwn(desk.own.deviceKeys))

    var unverified = Knowledge()
    var own = TestUser(ann, seed: "elsewhere")
    try own.add(desk)
    try unverified.learn([own])
    #expect(!unverified.trust().isVerifiedOwn(try #require(unverified.tracker.device(desk.own.device, of: ann))))
  }
}

extension Knowledge {
  fileprivate func trust(_ policy: SharingPolicy = SharingPolicy(readers: .signed)) -> Trust {
    Trust(of: device.own.deviceKeys, identities, tracker, policy)
  }
}
