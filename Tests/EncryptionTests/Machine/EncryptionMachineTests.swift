import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

private let hour: Int64 = 60 * 60 * 1_000
let encryption = #"{"algorithm":"m.megolm.v1.aes-sha2"}"#

/// A server with a room and the devices in it, all of which know each other.
struct World {
  let server = ModelServer()
  var hosts: [TestHost] = []
  var now: Int64 = 1_000_000

  init(_ names: [(UserID, String)], encryption: String = encryption, dehydrates: Bool = false) throws {
    server.members = Set(names.map(\.0)).sorted()
    for (user, device) in names { hosts.append(TestHost(user, device, at: server, dehydrates: dehydrates, now: now)) }
    for host in hosts { host.handle(.encryption(ModelServer.room, try parsed(encryption)), at: now) }
    try settle()
  }

  mutating func settle() throws { try server.settle(hosts, at: &now) }

  mutating func write(_ bodies: String..., by host: Int = 0) throws {
    try settle()
    for body in bodies { try hosts[host].write(body, at: now) }
    try settle()
  }

  /// Session IDs of the room's events, in order.
  var sessions: [ByteString] { server.events.compactMap { $0["content"]?.text("session_id") } }
}

@Suite struct EncryptionMachineTests {
  @Test func `everybody in the room reads what is written, on each of their devices`() throws {
    var world = try World([(ann, "DESK"), (ann, "PHONE"), (bob, "PHONE")])
    try world.write("hello", "how are you?")
    try world.write("fine", by: 2)
    for host in world.hosts { #expect(host.bodies == ["hello", "how are you?", "fine"], "\(host.name)") }
    let origin = world.hosts[1].durable.clear[EventID(trusted: "$0")]?.origin
    let desk = world.hosts[0].machine.own.deviceKeys
    #expect(origin == .proven(RoomKey.Owner(user: ann, identity: desk.identity, signing: desk.signing)))
  }

  @Test func `a machine goes on from its records as the same device`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("one")
    let before = world.hosts.map { $0.machine.own.deviceKeys }
    for host in world.hosts { host.restart(at: world.now) }
    #expect(world.hosts.map { $0.machine.own.deviceKeys } == before)
    try world.write("two")
    try world.write("three", by: 1)
    #expect(world.hosts.allSatisfy { $0.bodies == ["one", "two", "three"] })
    #expect(Set(world.sessions).count == 2, "one session each")
    let uploads = world.server.asked.filter { "\($0.request.endpoint.pattern)" == "\(Endpoint.uploadKeys.pattern)" }
    #expect(uploads.count { (try? JSON.parse($0.request.body)["device_keys"]) != nil } == 2, "each device once")
  }

  @Test func `a store of another device, a damaged one, and one of a newer version stop it with a reason`() throws {
    let world = try World([(ann, "DESK")])
    let store = world.hosts[0].durable.store
    func broken(_ device: String, _ store: [ByteString: [UInt8]]) -> [Broken] {
      var machine = EncryptionMachine(user: ann, device: DeviceID(trusted: ByteString(device)), random: .system)
      #expect(!machine.start(at: 0).loads.isEmpty)
      let output = machine.handle(.loaded(store.map { EncryptionRecord(key: $0.key, value: $0.value) }), at: 0)
      #expect(output.writes.isEmpty && output.requests.isEmpty)
      #expect(machine.handle(.sync(SyncedKeys()), at: 0).writes.isEmpty, "it stays so")
      return output.results.compactMap { if case .broken(let reason) = $0 { reason } else { nil } }
    }
    #expect(broken("PHONE", store) == [.ofAnotherDevice])
    var damaged = store
    damaged["e/account"]?.removeLast()
    #expect(broken("DESK", damaged) == [.unreadableStore])
    damaged["e/account"] = nil
    #expect(broken("DESK", damaged) == [.unreadableStore])
    var newer = store
    newer["e/account"] = Array(#"{"v":2}"#.utf8)
    #expect(broken("DESK", newer) == [.newerStore])
    for key in store.keys where key.utf8.starts(with: RecordNames.rooms.utf8) {
      var forgetful = store
      forgetful[key] = []
      #expect(broken("DESK", forgetful) == [.unreadableStore], "an encrypted room is never taken for another")
    }
  }

  @Test func `keys of the store tell nothing of users, rooms and sessions`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("hello")
    for key in world.hosts.flatMap({ $0.durable.store.keys }) {
      #expect(
        !key.string.contains("example") && !key.string.contains("PHONE") && !key.string.contains(world.sessions[0].string))
    }
  }

  @Test func `who comes later reads from then on, and who left reads nothing more`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("before")
    world.hosts.append(TestHost(bob, "TABLET", at: world.server, now: world.now))
    try world.settle()
    try world.write("with a tablet")
    #expect(world.hosts[2].bodies == ["with a tablet"])
    #expect(Set(world.sessions).count == 1)
    world.server.members = [ann]
    world.hosts[0].handle(.departed(ModelServer.room, []), at: world.now)
    try world.write("alone")
    #expect(world.hosts[0].bodies == ["before", "with a tablet", "alone"])
    #expect(world.hosts[1].bodies == ["before", "with a tablet"] && world.hosts[2].bodies == ["with a tablet"])
    #expect(Set(world.sessions).count == 2)
  }

  @Test func `a device that is gone ends the session that it can read`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE"), (bob, "TABLET")])
    try world.write("before")
    world.server.remove(world.hosts.removeLast().name)
    try world.write("after")
    #expect(Set(world.sessions).count == 2)
  }

  @Test func `a session has as many messages as the room says, also in one go`() throws {
    var world = try World(
      [(ann, "DESK"), (bob, "PHONE")], encryption: #"{"algorithm":"m.megolm.v1.aes-sha2","rotation_period_msgs":2}"#)
    for number in 1...5 { try world.hosts[0].write("\(number)", at: world.now) }
    try world.settle()
    #expect(world.hosts[1].bodies == ["1", "2", "3", "4", "5"])
    let sessions = world.sessions
    #expect(
      sessions[0] == sessions[1] && sessions[1] != sessions[2] && sessions[2] == sessions[3] && sessions[3] != sessions[4])
  }

  @Test func `nothing is encrypted for a room that is not, or whose algorithm is unknown, and state cannot end encryption`()
    throws
  {
    let world = try World([(ann, "DESK")])
    let host = world.hosts[0]
    let (plain, strange) = (RoomID(trusted: "!plain:one.example"), RoomID(trusted: "!strange:one.example"))
    host.handle(.encryption(strange, try parsed(#"{"algorithm":"m.mls"}"#)), at: 0)
    let text = try parsed(#"{"body":"x"}"#)
    host.handle(.encrypt(1, RoomMembers(plain, users: [ann], sharesHistory: false), .message, text), at: 0)
    host.handle(.encrypt(2, RoomMembers(strange, users: [ann], sharesHistory: false), .message, text), at: 0)
    host.handle(.encryption(ModelServer.room, try parsed("{}")), at: 0)
    host.handle(.encrypt(3, host.members, .message, text), at: 0)
    let blocked = host.news.compactMap { if case .blocked(let number, let reason) = $0 { (number, reason) } else { nil } }
    #expect(blocked.map(\.0) == [1, 2] && blocked.map(\.1) == [.notEncrypted, .unknownAlgorithm])
    #expect(host.durable.unsent.map(\.number) == [3])
  }

  // Proves E4
  @Test func `a message that came before its key is read when the key is there, and a refusal is its reason until then`() throws
  {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    try desk.write("hello", at: world.now)
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    try desk.send()
    try phone.read(at: world.now)
    #expect(phone.bodies.isEmpty && phone.durable.unread.values.map(\.reason) == [.missingKey])
    let session = try #require(world.sessions.first)
    var withheld = SyncedKeys()
    withheld.toDevice = [
      try parsed(
        """
        {"type":"m.room_key.withheld","sender":"@ann:one.example","content":{"algorithm":"m.megolm.v1.aes-sha2",
        "code":"m.unverified","room_id":"!tea:one.example","session_id":"\(session.string)"}}
        """)
    ]
    _ = phone.machine.handle(.sync(withheld), at: world.now)
    phone.restart(at: world.now)
    try world.settle()
    #expect(phone.bodies == ["hello"] && phone.durable.unread.isEmpty)
  }

  @Test func `a key that is prepared is there before the first message`() throws {
    let world = try World([(ann, "DESK"), (bob, "PHONE")])
    let desk = world.hosts[0]
    desk.handle(.prepare(desk.members), at: world.now)
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    #expect(desk.news.contains { if case .prepared(ModelServer.room) = $0 { true } else { false } })
    try desk.write("at once", at: world.now)
    #expect(desk.durable.unsent.count == 1 && desk.requests.isEmpty)
  }

  @Test func `messages wait until the server has the keys, and a crash repeats the request with its transaction ID`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let desk = world.hosts[0]
    try desk.write("hello", at: world.now)
    // Bob's devices, and a key of his.
    for _ in 0..<2 { try desk.ask(at: world.now) }
    let sending = try #require(desk.requests.first)
    #expect("\(sending.endpoint.pattern)" == "\(Endpoint.sendToDevice.pattern)" && desk.durable.unsent.isEmpty)
    desk.restart(at: world.now)
    let again = desk.requests.filter { "\($0.endpoint.pattern)" == "\(Endpoint.sendToDevice.pattern)" }
    #expect(again.map(\.parameters) == [sending.parameters] && again.map(\.body) == [sending.body])
    #expect(desk.durable.unsent.isEmpty)
    try world.settle()
    #expect(world.hosts[1].bodies == ["hello"])
    #expect(!desk.durable.store.keys.contains { $0.utf8.starts(with: RecordNames.sending.utf8) })
  }

  @Test func `a server that does not answer holds nobody up for longer than ten seconds, and its users read later`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let carol = UserID(trusted: "@carol:three.example")
    world.server.members.append(carol)
    world.server.failing = [carol.serverName]
    let desk = world.hosts[0]
    try desk.write("hello", at: world.now)
    // The answer never comes.
    #expect(desk.requests.count == 1 && desk.durable.unencrypted.count == 1)
    #expect(desk.wakeAt == world.now + RoomWriting.patienceMilliseconds)
    desk.handle(.woken, at: world.now + RoomWriting.patienceMilliseconds)
    while desk.durable.unsent.isEmpty {
      try desk.ask(desk.requests.count - 1, at: world.now + RoomWriting.patienceMilliseconds)
    }
    // The answer says so: nobody waits at all.
    try desk.write("again", at: world.now)
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    #expect(desk.durable.unsent.count == 2)
    world.server.failing = []
    world.hosts.append(TestHost(carol, "PHONE", at: world.server, now: world.now))
    try world.settle()
    world.now += hour
    for host in world.hosts { host.handle(.woken, at: world.now) }
    try world.settle()
    try world.write("all here")
    #expect(world.hosts[2].bodies.last == "all here")
  }

  @Test func `a message that waits is written for its readers, also if the last room that is shared with them goes meanwhile`()
    throws
  {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("one")
    let desk = world.hosts[0]
    desk.expectSync()
    var changed = SyncedKeys()
    changed.changed = [bob]
    desk.handle(.sync(changed), at: world.now)
    desk.handle(.departed(ModelServer.room, []), at: world.now)
    try desk.write("two", at: world.now)
    #expect(desk.durable.unsent.isEmpty, "it waits for the list of devices")
    desk.expectSync()
    var gone = SyncedKeys()
    gone.left = [bob]
    desk.handle(.sync(gone), at: world.now)
    try world.settle()
    #expect(world.hosts[1].bodies == ["one", "two"])
  }

  @Test func `a device without a key is told so once, and gets the room's key when it has one`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let name = world.hosts[1].name
    // Somebody has used up its keys.
    let claim = Array(#"{"one_time_keys":{"@bob:two.example":{"PHONE":"signed_curve25519"}}}"#.utf8)
    for _ in 0..<50 {
      _ = try world.server.answer(
        MachineRequest(id: 0, endpoint: .claimKeys, parameters: [], body: claim), of: world.hosts[0].name)
    }
    world.server.dropFallback(of: name)
    let desk = world.hosts[0]
    for number in 1...2 {
      try desk.write("\(number)", at: world.now)
      while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    }
    #expect(desk.durable.unsent.count == 2)
    let withheld = world.server.asked.filter { $0.request.parameters.first == "m.room_key.withheld" }
    #expect(withheld.count == 1)
    let body = try JSON.parse(try #require(withheld.first).request.body)
    let content = try #require(body["messages"]?["@bob:two.example"]?["PHONE"])
    #expect(content.text("code") == "m.no_olm" && content["session_id"] == nil)
    try world.settle()
    world.now += Claims.firstPauseMilliseconds
    try world.write("3")
    #expect(world.hosts[1].bodies == ["3"])
  }

  @Test func `a session that broke is begun anew by m.dummy, at most once an hour`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("one")
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    // An old copy of the store came back, without the sessions.
    for key in phone.durable.store.keys where key.utf8.starts(with: "e/olm/".utf8) { phone.durable.store[key] = nil }
    phone.restart(at: world.now)
    phone.handle(.track([ann]), at: world.now)
    for number in 0..<2 {
      desk.handle(.departed(ModelServer.room, []), at: world.now)
      try world.write("lost \(number)")
      desk.handle(.departed(ModelServer.room, []), at: world.now)
      try world.write("read \(number)")
      #expect(phone.bodies.last == "read \(number)")
    }
    let greetings = world.server.asked.filter {
      $0.by == phone.name && "\($0.request.endpoint.pattern)" == "\(Endpoint.claimKeys.pattern)"
    }
    #expect(greetings.count == 1)
  }

  @Test func `two senders who are given the same one-time key are both read in the end`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE"), (UserID(trusted: "@carol:one.example"), "LAPTOP")])
    let desk = world.hosts[0]
    world.server.repeatsKeysOf = desk.name
    for number in 1...2 { try world.hosts[number].write("\(number)", at: world.now) }
    try world.settle()
    #expect(Set(desk.bodies) == ["1", "2"] && desk.durable.unread.isEmpty)
    #expect(desk.machine.figures.repairedSessions == 1)
    for number in 1...2 { try world.write("\(number) again", by: number) }
    #expect(desk.bodies.suffix(2) == ["1 again", "2 again"] && world.hosts.allSatisfy { $0.bodies.count == 4 })
    #expect(Set(world.sessions).count == 2, "the keys were given again, not made anew")
  }

  @Test func `a device that says again and again that it lost its keys gets them once an hour, and only its own`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE"), (bob, "TABLET")])
    try world.write("1")
    let desk = world.hosts[0], phone = world.hosts[1].machine.own.deviceKeys
    let name = RoomKeys.Name(ModelServer.room, world.sessions[0])
    #expect(desk.machine.keysLost(by: phone, at: world.now) == [name])
    #expect(desk.machine.keysLost(by: phone, at: world.now + hour - 1).isEmpty)
    #expect(desk.machine.keysLost(by: phone, at: world.now + hour) == [name])
    let stranger = TestDevice(of: UserID(trusted: "@carol:one.example"), seed: "carol").own.deviceKeys
    #expect(desk.machine.keysLost(by: stranger, at: world.now).isEmpty)
    // Who got it later, reads from there on.
    try world.write("2")
    world.hosts.append(TestHost(bob, "LATE", at: world.server, now: world.now))
    try world.write("3")
    let late = world.hosts[3].machine.own.deviceKeys, session = try #require(desk.machine.outbound[ModelServer.room])
    let key = try #require(desk.machine.roomKeys.keys(of: name).first)
    for (device, first) in [(phone, UInt32(0)), (late, 2)] {
      let text = try #require(session.shareAgain(with: device, knowing: key)?.text("session_key"))
      #expect(try InboundGroupSession(sharedKey: try #require(Base64.decode(Array(text.utf8)))).firstIndex == first)
    }
    #expect(session.shareAgain(with: stranger, knowing: key) == nil)
  }

  @Test func `another user's device with a copied key takes no key from its owner`() throws {
    let mallory = UserID(trusted: "@mallory:evil.example")
    var world = try World([(ann, "DESK"), (bob, "PHONE"), (mallory, "EVIL")])
    let (phone, evil) = (world.hosts[1].machine.own.deviceKeys, world.hosts[2].machine.own)
    let copied = try JSON.object { writer in
      writer.member("user_id", mallory)
      writer.member("device_id", "EVIL")
      writer.array("algorithms", [Algorithm.olm, Algorithm.megolm]) { $1.write($0) }
      writer.key("keys")
      writer.object { writer in
        writer.member("curve25519:EVIL", ByteString(decoding: phone.identity.text))
        writer.member("ed25519:EVIL", ByteString(decoding: evil.account.signing.key.text))
      }
    }
    let signed = try #require(copied.signed(by: mallory, "ed25519:EVIL", evil.account.signing))
    world.server.replaceKeys(of: world.hosts.removeLast().name, by: signed)
    let desk = TestHost(ann, "NEW", at: world.server, now: world.now)
    desk.handle(.encryption(ModelServer.room, try parsed(encryption)), at: world.now)
    world.hosts[0] = desk
    try world.settle()
    for number in 1...3 { try world.write("\(number)") }
    #expect(world.hosts[1].bodies == ["1", "2", "3"])
  }

  @Test func `keys that the server has under this device's name and that are not its own are told`() throws {
    let world = try World([(ann, "DESK")])
    let other = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "another")
    world.server.replaceKeys(of: world.hosts[0].name, by: try other.published())
    let desk = TestHost(ann, "DESK", at: ModelServer())
    for request in desk.requests where "\(request.endpoint.pattern)" == "\(Endpoint.queryKeys.pattern)" {
      desk.handle(.answered(request.id, try answer([(ann, DeviceID(trusted: "DESK"), try other.published())])), at: 0)
    }
    #expect(desk.news.contains { if case .broken(.lostKeys) = $0 { true } else { false } })
    #expect(!desk.requests.contains { "\($0.endpoint.pattern)" == "\(Endpoint.uploadKeys.pattern)" }, "they stay as they are")
    // Of a device whose keys the server had.
    world.hosts[0].sync(at: world.now)
    while !world.hosts[0].requests.isEmpty { try world.hosts[0].ask(at: world.now) }
    #expect(world.hosts[0].news.contains { if case .devices(.refused(_, _, .changedKeys)) = $0 { true } else { false } })
  }
}
