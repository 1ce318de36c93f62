import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct IdentitiesTests {
  private let first = TestUser(seed: "first"), second = TestUser(seed: "second")

  private func user(_ seed: String, signedBy own: TestUser) -> TestUser {
    var user = TestUser(seed: seed)
    user.signed(by: own)
    return user
  }

  // MARK: Pinning

  @Test func `a user's identity is pinned when it is first seen`() throws {
    var known = Knowledge()
    #expect(try known.learn([first]).identities == [.appeared(bob)])
    let identity = try #require(known.identities.identity(of: bob))
    #expect(identity.keys == first.keys && identity.pinned == first.keys.master && identity.change == nil)
    #expect(!known.identities.isVerified(bob) && !identity.wasVerified)
    #expect(try known.learn([first]).identities.isEmpty)
  }

  @Test func `a changed master key has to be acknowledged as the user has seen it`() throws {
    var known = Knowledge()
    try known.learn([first])
    #expect(try known.learn([second]).identities == [.changed(bob)])
    #expect(known.identities.identity(of: bob)?.change == .unacknowledged)
    #expect(try known.learn([second]).identities.isEmpty, "told once")
    #expect(known.identities.changed.map(\.keys.user) == [bob])
    #expect(known.identities.changes.map(\.user) == [bob] && known.identities.changes.map(\.at) == [7])
    let stale = known.identities.acknowledge(bob, first.keys.master)
    #expect(!stale && known.identities.identity(of: bob)?.change == .unacknowledged)
    let isWithdrawn = known.identities.withdrawVerification(of: bob, second.keys.master)
    #expect(!isWithdrawn, "there was none")
    let isTaken = known.identities.acknowledge(bob, second.keys.master)
    let identity = try #require(known.identities.identity(of: bob))
    #expect(
      isTaken && identity.change == nil && identity.pinned == second.keys.master && identity.previous == first.keys.master)
    let again = known.identities.acknowledge(bob, second.keys.master)
    #expect(!again)
    #expect(known.identities.changed.isEmpty && known.identities.changes.map(\.user) == [bob], "when it was is still known")
  }

  @Test func `a change that is taken back leaves the pinned key`() throws {
    var known = Knowledge()
    try known.learn([first])
    try known.learn([second])
    #expect(try known.learn([first]).identities.isEmpty)
    let identity = try #require(known.identities.identity(of: bob))
    #expect(identity.change == nil && identity.previous == nil)
  }

  @Test func `keys that the server hides or forges leave the known ones`() throws {
    var known = Knowledge()
    try known.learn([first])
    var hidden = first
    hidden.leftOut = [.master, .selfSigning]
    #expect(try known.learn([hidden]).identities == [.hidden(bob)])
    var forged = second
    forged.forged[.selfSigning] = first.pairs.object(.selfSigning, of: bob)
    #expect(try known.learn([forged]).identities == [.refused(bob, .wrongSignature)])
    var partly = first
    partly.leftOut = [.selfSigning, .userSigning]
    #expect(try known.learn([partly]).identities.isEmpty)
    #expect(known.identities.identity(of: bob) == UserIdentity(first.keys))
    // A server that does not answer hides nothing.
    #expect(try known.learn([hidden], failures: ["two.example"]).identities.isEmpty)
  }

  // MARK: Verifying

  @Test func `a user is verified by the own identity's signature when the own identity is verified`() throws {
    var known = Knowledge()
    let own = TestUser(ann, seed: "ann")
    let signed = user("first", signedBy: own)
    // In one answer, in either order.
    for users in [[own, signed], [signed, own]] {
      var known = Knowledge()
      try known.learn(users)
      #expect(!known.identities.isVerified(bob), "the own identity is not proven")
      let isVerified = known.identities.own.verify(own.keys.master)
      #expect(isVerified && known.identities.isVerified(bob) && known.identities.identity(of: bob)?.wasVerified ?? false)
    }
    try known.learn([own])
    _ = known.identities.own.verify(own.keys.master)
    #expect(try known.learn([signed]).identities == [.appeared(bob), .verified(bob)])
    // A signature is not taken back.
    #expect(try known.learn([first]).identities.isEmpty && known.identities.isVerified(bob))
  }

  @Test func `signatures of other keys verify nobody`() throws {
    var known = Knowledge()
    let own = TestUser(ann, seed: "ann")
    try known.learn([own])
    _ = known.identities.own.verify(own.keys.master)
    var (byMaster, bySelf, byStranger, ofStranger) = (first, first, first, first)
    byMaster.signers = [(ann, own.pairs.master)]
    bySelf.signers = [(ann, own.pairs.selfSigning)]
    byStranger.signed(by: TestUser(ann, seed: "stranger"))
    ofStranger.signers = [(UserID(trusted: "@carl:one.example"), own.pairs.userSigning)]
    for user in [first, byMaster, bySelf, byStranger, ofStranger] {
      try known.learn([user])
      #expect(!known.identities.isVerified(bob))
    }
  }

  @Test func `a verified user whose master key changes is verified anew or the verification withdrawn`() throws {
    let own = TestUser(ann, seed: "ann")
    func known() throws -> Knowledge {
      var known = Knowledge()
      try known.learn([own, user("first", signedBy: own)])
      _ = known.identities.own.verify(own.keys.master)
      #expect(try known.learn([second]).identities == [.changed(bob)])
      #expect(known.identities.identity(of: bob)?.change == .ofVerified && !known.identities.isVerified(bob))
      let isAcknowledged = known.identities.acknowledge(bob, second.keys.master)
      #expect(!isAcknowledged, "that is not enough")
      return known
    }
    var withdrawn = try known()
    let isWithdrawnUnseen = withdrawn.identities.withdrawVerification(of: bob, first.keys.master)
    #expect(!isWithdrawnUnseen)
    let isWithdrawn = withdrawn.identities.withdrawVerification(of: bob, second.keys.master)
    #expect(isWithdrawn && withdrawn.identities.identity(of: bob)?.change == nil && !withdrawn.identities.isVerified(bob))
    try withdrawn.learn([first])
    #expect(withdrawn.identities.identity(of: bob)?.change == .unacknowledged)

    var anew = try known()
    #expect(try anew.learn([user("second", signedBy: own)]).identities == [.verified(bob)])
    let identity = try #require(anew.identities.identity(of: bob))
    #expect(identity.change == nil && identity.previous == first.keys.master && anew.identities.isVerified(bob))
  }

  @Test func `a user who was verified by comparing keys is signed, also after a change`() throws {
    var known = Knowledge()
    let own = try known.setUp()
    try known.learn([own, first])
    let isStale = known.identities.verify(bob, second.keys.master, try known.masterKey(of: first))
    let isForged = known.identities.verify(bob, first.keys.master, try known.masterKey(of: second))
    #expect(!isStale && !isForged && known.identities.own.signatures == nil)
    let isVerified = known.identities.verify(bob, first.keys.master, try known.masterKey(of: first))
    #expect(isVerified && known.identities.isVerified(bob))
    let body = try JSON.parse(try #require(known.identities.own.signatures).body)
    let object = try #require(body[bob.text]?[first.keys.master.name])
    #expect(object.isSigned(by: ann, own.pairs.userSigning.key))
    #expect(
      try object.canonical(leavingOut: ["signatures"]) == known.masterKey(of: first).canonical(leavingOut: ["signatures"]))

    try known.learn([second])
    #expect(!known.identities.isVerified(bob))
    let isAnew = known.identities.verify(bob, second.keys.master, try known.masterKey(of: second))
    #expect(isAnew && known.identities.isVerified(bob) && known.identities.identity(of: bob)?.change == nil)
  }

  @Test func `a device ID that is the name of a key makes its user unverifiable`() throws {
    let own = TestUser(ann, seed: "ann")
    for use in CrossSigningUse.allCases {
      var known = Knowledge()
      var collided = user("first", signedBy: own)
      try known.learn([own, collided])
      _ = known.identities.own.verify(own.keys.master)
      #expect(known.identities.isVerified(bob))
      // The server need not give the device's keys for that.
      collided.devices = [(DeviceID(trusted: first.keys[use]!.name), try parsed("7"))]
      #expect(try known.learn([collided]).identities == [.collided(bob)])
      #expect(!known.identities.isVerified(bob))
      let isProven = try known.identities.verify(bob, first.keys.master, known.masterKey(of: first))
      #expect(!isProven)
      try known.learn([user("first", signedBy: own)])
      #expect(known.identities.isVerified(bob))
    }
    var known = Knowledge()
    var collided = own
    collided.devices = [(DeviceID(trusted: own.keys.master.name), try parsed("7"))]
    #expect(try known.learn([collided]).identities.contains(.collided(ann)))
    let isProven = known.identities.own.verify(own.keys.master)
    #expect(!isProven)
  }

  @Test func `a device counts as signed by the pinned identity only`() throws {
    var known = Knowledge()
    var bobs = first
    let (phone, laptop) = (TestDevice(), TestDevice(of: bob, DeviceID(trusted: "LAPTOP"), seed: "a laptop"))
    try bobs.add(phone)
    try bobs.addUnsigned(laptop)
    try known.learn([bobs])
    func hasSigned(_ device: TestDevice) throws -> Bool {
      let device = try #require(known.tracker.device(device.own.device, of: bob))
      return try #require(known.identities.identity(of: bob)).hasSigned(device)
    }
    #expect(try hasSigned(phone) && !hasSigned(laptop))
    // The signature goes: told, and no longer counted.
    var unsigned = first
    try unsigned.addUnsigned(phone)
    #expect(try known.learn([unsigned]).devices == [.unsigned(bob, phone.own.device), .gone(bob, laptop.own.device)])
    #expect(try !hasSigned(phone))
    // Another identity signs the device.
    var changed = second
    try changed.add(phone)
    try known.learn([changed])
    #expect(try !hasSigned(phone))
    _ = known.identities.acknowledge(bob, second.keys.master)
    #expect(try hasSigned(phone))
    // Another identity that has not signed it takes nothing away.
    var third = TestUser(seed: "third")
    try third.addUnsigned(phone)
    #expect(try known.learn([third]).devices.isEmpty)
  }

  // MARK: Store

  @Test func `identities are restored as they were stored`() throws {
    let own = TestUser(ann, seed: "ann")
    var known = Knowledge()
    var random = SecretSource.repeating(seed: [1])
    try known.learn([own, user("first", signedBy: own)])
    _ = known.identities.own.verify(own.keys.master)
    try known.learn([second])
    let names = RecordNames(secret: random.secret(32))
    let writes = known.identities.writes(names)
    #expect(writes.map(\.key) == ["e/self", names.identity(bob)])
    let stored = try writes.map { try #require($0.value) }
    known.identities.markStored()
    #expect(known.identities.writes(names).isEmpty)
    var restored = Identities(own: try OwnIdentity(record: stored[0]), others: [try UserIdentity(record: stored[1])])
    #expect(
      restored.identity(of: bob) == known.identities.identity(of: bob) && restored.identity(of: bob)?.change == .ofVerified)
    #expect(restored.own.isVerified && restored.own.identity == known.identities.own.identity)
    #expect(restored.changed.map(\.keys.user) == [bob] && restored.changes.map(\.at) == [7])
    #expect(restored.writes(names).isEmpty)
    _ = restored.withdrawVerification(of: bob, second.keys.master)
    #expect(restored.writes(names).map(\.key) == [names.identity(bob)])
  }

  @Test func `a stored device keeps the key that has signed it`() throws {
    var (known, bobs) = (Knowledge(), first)
    try bobs.add(TestDevice())
    try bobs.addUnsigned(TestDevice(of: bob, DeviceID(trusted: "LAPTOP"), seed: "a laptop"))
    try known.learn([bobs])
    let (user, devices) = try UserDevices.read(try #require(known.tracker.record(of: bob)))
    #expect(user == bob && devices.devices.values.allSatisfy { known.tracker.device($0.device, of: bob) == $0 })
    #expect(devices.devices.values.map(\.signer).filter { $0 != nil } == [first.keys.selfSigning])
  }

  @Test func `a damaged identity is refused`() throws {
    let record = UserIdentity(first.keys).record
    #expect(try UserIdentity(record: record) == UserIdentity(first.keys))
    for end in record.indices { #expect(throws: RecordRefusal.self) { try UserIdentity(record: [UInt8](record[..<end])) } }
    let json = try JSON.parse(record)
    for key: StaticString in ["user", "master", "pinned", "verified", "collision"] {
      #expect(throws: RecordRefusal.unreadable) { try UserIdentity(record: Array(try json.replacing([key]) { _ in }.bytes)) }
    }
    let newer = try json.replacing(["v"]) { $0.member("v", 2) }
    #expect(throws: RecordRefusal.unknownVersion) { try UserIdentity(record: Array(newer.bytes)) }
  }
}

extension RecordChange {
  var key: ByteString {
    switch self {
    case .put(let record): record.key
    case .delete(let key): key
    }
  }

  var value: [UInt8]? {
    if case .put(let record) = self { record.value } else { nil }
  }
}
