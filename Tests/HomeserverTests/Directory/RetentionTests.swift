import JSON
import MatrixModel
import Testing

@testable import ServerRooms

@Suite struct RetentionTests {
  private static let hour: Int64 = 60 * 60 * 1_000
  private static let start: Int64 = 1_700_000_000_000

  private func rows(_ fixture: RoomsFixture) async throws -> (messages: Int64, state: Int64) {
    try await fixture.database.read { transaction in
      let messages = try transaction.first("SELECT count(*) FROM event WHERE state_key IS NULL") { $0.integer(0) }
      let state = try transaction.first("SELECT count(*) FROM event WHERE state_key IS NOT NULL") { $0.integer(0) }
      return (messages ?? 0, state ?? 0)
    }
  }

  private func setRetention(_ content: String, in room: RoomID, _ fixture: RoomsFixture) async throws {
    _ = try await fixture.rooms.setState(.retention, "", json(content), in: room, by: RoomsFixture.actor("ann"))
  }

  @Test func `messages vanish at the end of their lifetime and are deleted after, state stays`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    let other = try await fixture.createRoom(by: "ann")
    try await setRetention(#"{"max_lifetime":\#(48 * Self.hour)}"#, in: room, fixture)
    let old = try await fixture.send("old", to: room, by: "ann")
    try await fixture.send("elsewhere", to: other, by: "ann")
    fixture.setTime(Self.start + Self.hour)
    try await fixture.send("new", to: room, by: "ann")
    let before = try await rows(fixture)

    fixture.setTime(Self.start + 48 * Self.hour)
    #expect(try await fixture.bodies(of: room, for: "ann") == ["new", "old"])
    #expect(try await fixture.rooms.purgeExpiredMessages() == 0)
    fixture.setTime(Self.start + 48 * Self.hour + 1)
    #expect(try await fixture.bodies(of: room, for: "ann") == ["new"])
    let user = RoomsFixture.user("ann")
    #expect(await errorCode { _ = try await fixture.rooms.event(old, in: room, for: user) } == .notFound)
    #expect(try await rows(fixture) == before)
    #expect(try await fixture.rooms.purgeExpiredMessages() == 1)
    #expect(try await rows(fixture) == (before.messages - 1, before.state))
    #expect(try await fixture.bodies(of: other, for: "ann") == ["elsewhere"])

    // The newest event is hidden and stays, so that the next one has something to refer to.
    fixture.setTime(Self.start + 100 * Self.hour)
    #expect(try await fixture.bodies(of: room, for: "ann") == [])
    #expect(try await fixture.rooms.purgeExpiredMessages() == 0)
    try await fixture.send("newest", to: room, by: "ann")
    #expect(try await fixture.rooms.purgeExpiredMessages() == 1)
    let reopened = try fixture.reopened()
    reopened.setTime(Self.start + 100 * Self.hour)
    #expect(try await reopened.bodies(of: room, for: "ann") == ["newest"])
    #expect(try await rows(reopened).state == before.state)
  }

  @Test func `many messages go in bites`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    try await setRetention(#"{"max_lifetime":\#(24 * Self.hour)}"#, in: room, fixture)
    for number in 0..<450 { try await fixture.send("m\(number)", to: room, by: "ann") }
    fixture.setTime(Self.start + 25 * Self.hour)
    #expect(try await fixture.rooms.purgeExpiredMessages() == 449)
    #expect(try await rows(fixture).messages == 1)
  }

  @Test(
    arguments: [
      // What a room asks for, the server's default, shortest and longest, and what holds.
      (nil, nil, 1, nil, nil), (nil, 5, 1, nil, 5), (nil, nil, 1, 9, 9), (nil, 20, 1, 9, 9),
      (#"{"max_lifetime":7}"#, 5, 1, nil, 7),
      (#"{"max_lifetime":7}"#, nil, 8, nil, 8), (#"{"max_lifetime":7}"#, nil, 1, 6, 6), (#"{"min_lifetime":7}"#, 5, 1, nil, 7),
      (#"{"min_lifetime":7}"#, nil, 1, nil, nil), (#"{"min_lifetime":7}"#, 5, 1, 6, 6),
      (#"{"min_lifetime":8,"max_lifetime":7}"#, 5, 1, nil, 5), (#"{"max_lifetime":-1}"#, 5, 1, nil, 5),
      (#"{"max_lifetime":"7"}"#, 5, 1, nil, 5), (#"{"max_lifetime":null}"#, 5, 1, nil, 5),
      (#"{"max_lifetime":0}"#, nil, 0, nil, 0)
    ] as [(String?, Int64?, Int64, Int64?, Int64?)])
  func `the operator's bounds hold for what a room asks for`(
    asked: String?, byDefault: Int64?, shortest: Int64, longest: Int64?, holds: Int64?
  ) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    if let asked { try await setRetention(asked, in: room, fixture) }
    var rules = RetentionRules()
    rules.defaultLifetime = byDefault
    rules.shortestLifetime = shortest
    rules.longestLifetime = longest
    let snapshot = try await fixture.database.read { try fixture.rooms.cache.snapshot(of: room, in: $0) }
    #expect(rules.lifetime(in: try #require(snapshot)) == holds)
  }
}
