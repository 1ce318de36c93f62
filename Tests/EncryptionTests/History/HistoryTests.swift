import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct HistoryTests {
  private let file = #"{"v":"v2","url":"mxc://one.example/bundle"}"#

  /// Ann has written alone, and Bob is about to be invited. Both have identities.
  private func world() throws -> World {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    for host in world.hosts { try world.run(.setUpIdentity, by: host) }
    return world
  }

  /// What Ann's desk offers, as the host of Bob's phone hears it.
  private func offer(_ world: inout World) throws -> [(room: RoomID, giver: UserID)] {
    try world.run(.shareHistory(ModelServer.room, with: bob, file: try parsed(file)), by: world.hosts[0])
    world.hosts[1].handle(.woken, at: world.now)
    try world.settle()
    return heard(world.hosts[1])
  }

  private func heard(_ host: TestHost) -> [(room: RoomID, giver: UserID)] {
    host.news.compactMap { if case .history(let room, let giver, _) = $0 { (room, giver) } else { nil } }
  }

  @Test func `a bundle has the keys that later members may get, and names the others`() throws {
    let device = TestDevice(of: ann, seed: "ann")
    var random = device.random
    var keys: [RoomKey] = []
    for shares in [true, false, true] {
      keys.append(try OutboundRoom(ModelServer.room, sharesHistory: shares, random: &random, at: 0).ownKey(of: device.own))
    }
    let other = try OutboundRoom(RoomID(trusted: "!x:y"), sharesHistory: true, random: &random, at: 0).ownKey(of: device.own)
    let text = try #require(RoomKeyBundle.text(of: keys + [other]))
    let json = try JSON.parse(text)
    #expect(json["room_keys"]?.elements.count { _ in true } == 3 && json["withheld"]?.elements.count { _ in true } == 1)
    #expect(json["withheld"]?.elements.first { _ in true }?.text("code") == "m.history_not_shared")
    let bundle = try RoomKeyBundle(text, of: ModelServer.room, from: ann)
    #expect(bundle.keys.map(\.id) == [keys[0].id, keys[2].id], "keys of other rooms are left out")
    #expect(bundle.keys.allSatisfy { $0.isClaimed && $0.giver == ann && $0.sharesHistory })
    #expect(RoomKeyBundle.text(of: [keys[1]]) == nil)
    #expect(throws: RoomKeyRefusal.malformed) { try RoomKeyBundle(Array("{}".utf8), of: ModelServer.room, from: ann) }
  }

  @Test func `a bundle over its size is refused, and of one with too many keys the first are taken`() throws {
    let device = TestDevice(of: ann, seed: "ann")
    var random = device.random
    let key = try OutboundRoom(ModelServer.room, sharesHistory: true, random: &random, at: 0).ownKey(of: device.own)
    let text = try #require(RoomKeyBundle.text(of: [key])), padding = RoomKeyBundle.bytesLimit - text.count
    let full = text + [UInt8](repeating: UInt8(ascii: " "), count: padding)
    #expect(try RoomKeyBundle(full, of: ModelServer.room, from: ann).keys.count == 1)
    #expect(throws: RoomKeyRefusal.malformed) { try RoomKeyBundle(full + [10], of: ModelServer.room, from: ann) }
    // What cannot be read counts, too: it costs as much.
    let start = Array(#"{"room_keys":["#.utf8), rest = Array(text.dropFirst(start.count))
    #expect(text.starts(with: start))
    for (before, taken) in [(RoomKeyBundle.sessionLimit - 1, 1), (RoomKeyBundle.sessionLimit, 0)] {
      let many = start + Array(String(repeating: "7,", count: before).utf8) + rest
      #expect(try RoomKeyBundle(many, of: ModelServer.room, from: ann).keys.count == taken)
    }
    let given = try JSON.parse(try #require(RoomKeyBundle.text(of: [RoomKey](repeating: key, count: 3))))
    #expect(given["room_keys"]?.elements.count { _ in true } == 3)
  }

  @Test func `who accepts an invitation takes the history of the inviter, and it stays told by whom`() throws {
    var world = try world()
    #expect(try offer(&world).isEmpty, "nothing is downloaded before the user accepts")
    let phone = world.hosts[1]
    phone.restart(at: world.now)
    phone.handle(.accepted(ModelServer.room, from: ann), at: world.now)
    try world.settle()
    #expect(heard(phone).map(\.giver) == [ann])
    // It is told again until it is imported.
    phone.news = []
    phone.restart(at: world.now)
    try world.settle()
    #expect(heard(phone).count == 1)
    let (device, before) = (TestDevice(of: ann, seed: "before"), world.now)
    var random = device.random
    var session = OutboundRoom(ModelServer.room, sharesHistory: true, random: &random, at: before)
    let text = try #require(RoomKeyBundle.text(of: [try session.ownKey(of: device.own)]))
    phone.handle(.importKeys(1, try RoomKeyBundle(text, of: ModelServer.room, from: ann).keys), at: world.now)
    phone.handle(.historyTaken(ModelServer.room, from: ann), at: world.now)
    let content = try session.encrypt(.message, try parsed(#"{"body":"before Bob"}"#), from: device.own)
    try world.server.send(content, by: ModelServer.Name(user: ann, device: device.own.device), 1)
    phone.restart(at: world.now)
    try world.settle()
    #expect(phone.bodies == ["before Bob"] && phone.durable.clear[EventID(trusted: "$0")]?.giver == ann)
    phone.news = []
    phone.restart(at: world.now)
    #expect(heard(phone).isEmpty)
  }

  @Test(arguments: [false, true])
  func `the history of somebody else, or of a day before, is not taken`(_ isLate: Bool) throws {
    let carol = UserID(trusted: "@carol:one.example")
    var world = try world()
    _ = try offer(&world)
    let phone = world.hosts[1]
    phone.handle(.accepted(ModelServer.room, from: isLate ? ann : carol), at: isLate ? 0 : world.now)
    world.now += HistoryOffers.lifetimeMilliseconds
    try world.settle()
    #expect(heard(phone).isEmpty)
  }

  @Test func `devices that their user has not signed give no history and get none`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.run(.setUpIdentity, by: world.hosts[0])
    let number = world.hosts[0].begin(
      .shareHistory(ModelServer.room, with: bob, file: try parsed(file)), at: world.now)
    try world.settle()
    guard case .failed(.unverified)? = world.hosts[0].outcome(of: number) else { throw Given() }
    // And the other way round.
    try world.run(.setUpIdentity, by: world.hosts[1])
    world.hosts.append(TestHost(ann, "FAKE", at: world.server, now: world.now))
    try world.settle()
    let fake = world.hosts[2]
    _ = fake.begin(.shareHistory(ModelServer.room, with: bob, file: try parsed(file)), at: world.now)
    world.hosts[1].handle(.accepted(ModelServer.room, from: ann), at: world.now)
    try world.settle()
    #expect(heard(world.hosts[1]).isEmpty)
    #expect(world.hosts[1].machine.history.offers.offers.count == 1, "it is not taken, and waits for a signature")
  }

  @Test func `a history waits for the signature of the device that gives it`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.run(.setUpIdentity, by: world.hosts[1])
    _ = world.hosts[0].begin(.shareHistory(ModelServer.room, with: bob, file: try parsed(file)), at: world.now)
    world.hosts[1].handle(.accepted(ModelServer.room, from: ann), at: world.now)
    try world.settle()
    #expect(heard(world.hosts[1]).isEmpty)
    try world.run(.setUpIdentity, by: world.hosts[0])
    try world.settle()
    #expect(heard(world.hosts[1]).count == 1)
  }

  private struct Given: Error {}

  @Test func `offers are limited, the newest stays, and they are stored as they are`() throws {
    var offers = HistoryOffers()
    let keys = TestDevice(of: ann).own.deviceKeys
    for number in 0..<(HistoryOffers.limit + 20) {
      let giver = UserID(trusted: ByteString("@\(number % 20):x"))
      offers.add(
        HistoryOffers.Offer(
          room: RoomID(trusted: ByteString("!\(number):x")), giver: giver, identity: keys.identity, signing: keys.signing,
          file: Array(file.utf8), at: 5))
    }
    offers.add(HistoryOffers.Acceptance(room: ModelServer.room, inviter: ann, at: 7))
    #expect(offers.offers.count == HistoryOffers.limit && offers.offers.last?.room.string == "!119:x")
    for number in 0..<30 {
      offers.add(
        HistoryOffers.Offer(
          room: RoomID(trusted: ByteString("!e\(number):x")), giver: bob, identity: keys.identity, signing: keys.signing,
          file: Array(file.utf8), at: 6))
    }
    #expect(
      offers.offers.count { $0.giver == bob } == HistoryOffers.offersOfGiver && offers.offers.count == HistoryOffers.limit)
    #expect(try HistoryOffers(record: offers.record) == offers)
    #expect(throws: RecordRefusal.unreadable) { try HistoryOffers(record: Array("{}".utf8)) }
  }
}
