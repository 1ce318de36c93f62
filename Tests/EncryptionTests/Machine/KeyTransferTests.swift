import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// Keys of rooms that go from one device to another in a file.
@Suite struct KeyTransferTests {
  private let server = ModelServer()

  private func host(_ user: UserID, _ device: String, seed: String = "") throws -> TestHost {
    let host = TestHost(user, device, at: server, seed: seed)
    host.handle(.encryption(ModelServer.room, try parsed(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#)), at: 0)
    return host
  }

  private func settle(_ hosts: TestHost...) throws {
    var now: Int64 = 1_000_000
    try server.settle(hosts, at: &now)
  }

  private func exported(by host: TestHost, of room: RoomID? = nil) -> [RoomKey] {
    host.news = []
    for slice in EncryptionMachine.keySlices { host.handle(.exportKeys(UInt64(slice), of: room, slice: slice), at: 0) }
    let results = host.news.compactMap { if case .exportedKeys(let number, let keys) = $0 { (number, keys) } else { nil } }
    #expect(results.map(\.0) == (0...255).map { UInt64($0) })
    return results.flatMap(\.1)
  }

  /// Keys of which more can be read than before.
  private func imports(_ keys: [RoomKey], by host: TestHost) -> Int? {
    host.news = []
    host.handle(.importKeys(7, keys), at: 0)
    return host.news.compactMap { if case .importedKeys(7, let new) = $0 { new } else { nil } }.first
  }

  @Test func `a new device reads what was written before it, with the keys of an older one's file`() throws {
    server.members = [ann, bob].sorted()
    let desk = try host(ann, "DESK"), phone = try host(bob, "PHONE")
    try settle(desk, phone)
    try desk.write("before")
    try settle(desk, phone)
    phone.handle(.departed(ModelServer.room, []), at: 0)
    try phone.write("and after")
    try settle(desk, phone)
    let text = ExportedRoomKey.file(of: exported(by: desk))
    let tablet = try host(ann, "TABLET")
    try settle(desk, phone, tablet)
    #expect(tablet.bodies.isEmpty && tablet.durable.unread.count == 2)
    let file = try ExportedRoomKey.keys(ofFile: text)
    #expect(file.keys.count == 2 && file.refused == 0)
    #expect(imports(file.keys, by: tablet) == 2)
    #expect(tablet.bodies == ["before", "and after"], "what waited is read at once")
    let identity = desk.machine.own.deviceKeys.identity
    #expect(tablet.durable.clear[EventID(trusted: "$0")]?.origin == .claimed(identity: identity))
    #expect(imports(file.keys, by: tablet) == 0, "nothing of it is new any more")
    tablet.restart()
    #expect(exported(by: tablet).map(\.name.session).sorted() == file.keys.map(\.name.session).sorted())
  }

  @Test func `an export has one room's keys, or all, and those that wait for nothing else`() throws {
    server.members = [ann]
    let desk = try host(ann, "DESK")
    try settle(desk)
    var sessions: [TestSession] = []
    for room in ["!tea:one.example", "!tea:one.example", "!coffee:one.example"] {
      sessions.append(try TestSession(RoomID(trusted: ByteString(room)), seed: "session \(sessions.count)"))
    }
    #expect(imports(try sessions.map { try $0.claimed() }, by: desk) == 3)
    #expect(Set(exported(by: desk).map(\.name)) == Set(sessions.map(\.name)))
    #expect(Set(exported(by: desk, of: sessions[0].room).map(\.name)) == [sessions[0].name, sessions[1].name])
    #expect(exported(by: desk, of: RoomID(trusted: "!water:one.example")).isEmpty)
  }

  @Test func `a key that its device gave is never replaced, and only an earlier start of it is taken`() throws {
    server.members = [ann]
    let desk = try host(ann, "DESK")
    try settle(desk)
    let session = try TestSession(), later = try session.claimed(at: 5), first = try session.claimed()
    #expect(imports([session.proven()], by: desk) == 1 && imports([first, later], by: desk) == 0)
    #expect(exported(by: desk).map { $0.origin } == [.proven(session.owner)])
    let other = try host(ann, "TABLET")
    try settle(desk, other)
    let latest = try session.claimed(at: 9)
    #expect(imports([later], by: other) == 1 && imports([latest], by: other) == 0)
    #expect(exported(by: other).map { $0.session.firstIndex } == [5])
    #expect(imports([first], by: other) == 1)
    #expect(exported(by: other).map { $0.session.firstIndex } == [0])
    // Someone else's session under the same name.
    let forged = RoomKey(
      session.room, try TestSession(seed: "forged").proven().session, .claimed(identity: session.owner.identity),
      sharesHistory: true)
    #expect(imports([forged], by: other) == 1 && exported(by: other).count == 2, "another name: its session's ID differs")
  }

  @Test func `keys of a file go into the backup, unless nothing of them is new`() throws {
    server.members = [ann]
    let desk = try host(ann, "DESK")
    try settle(desk)
    var random = SecretSource.repeating(seed: [9])
    let known = try TestSession(seed: "known"), new = try TestSession(seed: "new")
    #expect(imports([try known.claimed()], by: desk) == 1)
    var backup = KeyBackup(version: "1", pair: Curve25519KeyPair(from: &random))
    backup.endScan()
    desk.machine.use(backup)
    #expect(imports([try known.claimed(), try new.claimed()], by: desk) == 1)
    #expect(desk.machine.backup?.nextNames(at: 1_000_000) == [new.name])
  }

  @Test func `a record that is damaged is left out of an export, one of a newer version ends the machine`() throws {
    server.members = [ann]
    let desk = try host(ann, "DESK")
    try settle(desk)
    let one = try TestSession(), two = try TestSession(seed: "two")
    #expect(imports([try one.claimed(), try two.claimed()], by: desk) == 2)
    let key = try #require(desk.durable.store.keys.first { RecordNames.isSession($0) })
    desk.durable.store[key] = Array("{".utf8)
    #expect(exported(by: desk).count == 1)
    desk.durable.store[key] = Array(#"{"v":2}"#.utf8)
    desk.news = []
    for slice in EncryptionMachine.keySlices { desk.handle(.exportKeys(1, of: nil, slice: slice), at: 0) }
    #expect(desk.machine.isStopped)
    #expect(desk.news.contains { if case .broken(.newerStore) = $0 { true } else { false } })
  }
}
