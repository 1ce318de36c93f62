import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct KeyRequestTests {
  private let key = Secret([UInt8](repeating: 7, count: 32))

  /// Ann's desk has read what the tablet, which is verified since, could not. There is no backup of it.
  private func world() throws -> World {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.run(.setUpIdentity, by: world.hosts[0])
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    world.hosts.append(TestHost(ann, "TABLET", at: world.server, now: world.now))
    try world.settle()
    let tablet = world.hosts[2]
    // Ann has a signed device, so Bob does not write to this one yet.
    try world.write("not for the tablet", by: 1)
    #expect(tablet.bodies.isEmpty)
    let inspection = tablet.begin(.inspectRecovery, at: world.now)
    try world.settle()
    guard case .recovery(let found)? = tablet.outcome(of: inspection) else { throw Lost() }
    try world.run(.recover(try #require(found.key), key), by: tablet)
    for place in world.server.accounts[ann].backups.indices { world.server.accounts[ann].backups[place].sessions = [:] }
    return world
  }

  private struct Lost: Error {}

  private func requests(_ world: World, _ action: ByteString) throws -> Int {
    try world.server.asked.count { asked in
      guard asked.request.parameters.first == "m.room_key_request" else { return false }
      return try JSON.parse(asked.request.body)["messages"]?["@ann:one.example"]?.members.contains {
        $0.value.text("action") == action
      } ?? false
    }
  }

  /// The tablet is shown the event, and patience ends.
  private func show(_ world: inout World) throws {
    let tablet = world.hosts[2]
    let event = try EncryptedEvent(try #require(Event(world.server.events[0])), in: ModelServer.room)
    tablet.handle(.decrypt(99, [event]), at: world.now)
    try world.settle()
    world.now += KeyRequests.delayMilliseconds
    tablet.handle(.woken, at: world.now)
    try world.settle()
  }

  // Proves E3
  @Test func `a verified device asks the user's others for a key, takes it as not proven, and tells the rest`() throws {
    var world = try world()
    let tablet = world.hosts[2]
    try show(&world)
    #expect(tablet.bodies == ["not for the tablet"])
    #expect(tablet.durable.trust["$0"].map { if case .notProven = $0 { true } else { false } } == true)
    #expect(try requests(world, "request") == 1 && requests(world, "request_cancellation") == 1)
    #expect(tablet.machine.keyRequests.open.isEmpty)
  }

  @Test func `a device that has asked once asks again when its user wants that, and fails at once if nobody could answer`()
    throws
  {
    var world = try world()
    let tablet = world.hosts[2]
    let event = try EncryptedEvent(try #require(Event(world.server.events[0])), in: ModelServer.room)
    tablet.handle(.decrypt(99, [event]), at: world.now)
    try world.settle()
    #expect(try requests(world, "request") == 0)
    try world.run(.askForKeys(of: ModelServer.room), by: tablet)
    #expect(tablet.bodies == ["not for the tablet"])
    #expect(try requests(world, "request") == 1 && tablet.machine.keyRequests.open.isEmpty)
    let number = world.hosts[1].begin(.askForKeys(of: ModelServer.room), at: world.now)
    try world.settle()
    guard case .failed(.unverified)? = world.hosts[1].outcome(of: number) else { throw Lost() }
  }

  @Test func `an unverified device of the user, and other people, get no answer`() throws {
    var world = try world()
    let name = RoomKeys.Name(ModelServer.room, world.sessions[0])
    world.hosts.append(TestHost(ann, "STOLEN", at: world.server, now: world.now))
    try world.settle()
    for (host, device) in [(3, "STOLEN"), (1, "TABLET"), (1, "PHONE")] {
      let request = KeyRequests.Request(id: "1", devices: [], askedAt: 0)
      let content = request.content(for: name, from: DeviceID(trusted: ByteString(device)), isCancelled: false)
      world.hosts[host].machine.send(
        "m.room_key_request", [ToDeviceRequest.Message(world.hosts[0].machine.own.deviceKeys, content)], keysOf: nil)
      world.hosts[host].handle(.woken, at: world.now)
    }
    let before = world.server.asked.count { $0.by == world.hosts[0].name && $0.request.parameters.first == "m.room.encrypted" }
    try world.settle()
    #expect(world.hosts[0].machine.keyAnswers.waiting.isEmpty)
    let after = world.server.asked.count { $0.by == world.hosts[0].name && $0.request.parameters.first == "m.room.encrypted" }
    #expect(before == after && world.hosts[3].bodies.isEmpty)
  }

  @Test func `a key that nobody asked for, or that comes from another's device, is not taken`() throws {
    var world = try world()
    let (desk, phone, tablet) = (world.hosts[0], world.hosts[1], world.hosts[2])
    let name = RoomKeys.Name(ModelServer.room, world.sessions[0])
    for host in [desk, phone] {
      let room = try #require(host.machine.roomKeys.keys(of: name).first)
      let content = try #require(try JSON.parse(ExportedRoomKey.file(of: [room])).elements.first { _ in true })
      let device = tablet.machine.own.deviceKeys
      if let message = host.machine.encrypted("m.forwarded_room_key", content, for: device) {
        host.machine.send("m.room.encrypted", [ToDeviceRequest.Message(device, message)], keysOf: nil)
      }
      host.handle(.woken, at: world.now)
    }
    try world.settle()
    #expect(tablet.machine.roomKeys.keys(of: name).isEmpty && tablet.bodies.isEmpty)
  }

  @Test func `fifty sessions are asked for at once, and a hundred answers go out in an hour`() {
    var (requests, answers) = (KeyRequests(), KeyAnswers())
    for number in 0..<60 { requests.want(RoomKeys.Name(ModelServer.room, ByteString("\(number)")), at: 0) }
    let due = requests.takeDue(at: KeyRequests.delayMilliseconds).count
    var answered = 0
    for number in 0..<120 where answers.count(at: Int64(number)) { answered += 1 }
    let later = answers.count(at: KeyAnswers.hourMilliseconds + 200)
    #expect(due == 50 && answered == 100 && later)
  }
}
