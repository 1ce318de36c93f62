import JSON
import MatrixModel
import Testing

@testable import ServerRooms

@Suite struct GapTests {
  /// Repeatable dice.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// What a client has of a room: events in order, gaps filled by paging back until it meets what it has.
  private struct Copy {
    var events: [EventID] = []
    var known: Set<EventID> = []
    var state: [String: EventID] = [:]
  }

  @Test func `no state is lost between events of which some are hidden`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann")
    let ann = RoomsFixture.actor("ann")
    let open = try await fixture.base.send("open", to: room, by: "ann")
    _ = try await fixture.rooms.setState(
      .historyVisibility, "", json(#"{"history_visibility":"joined"}"#), in: room, by: ann)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("cid"))
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: ann)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let last = try await fixture.base.send("last", to: room, by: "ann")
    let answer = try #require(try await fixture.client("bob").sync().room(room))
    #expect(answer.eventIDs.last == last && answer.eventIDs.count == 2 && answer.isLimited)
    #expect(answer.state.contains("m.room.member|@cid:example.org") && answer.state.contains("m.room.topic|"))
    // What may be seen before it is a page away.
    let page = try await fixture.rooms.messages(
      of: room, for: RoomsFixture.user("bob"), from: answer.previous, to: nil, .backward, limit: 10, EventFilter())
    #expect(page.events.contains { $0.eventID == open })
  }

  @Test(arguments: 0..<12)
  func `syncs and the pages before their gaps are all that is visible, each once, in order`(seed: Int) async throws {
    var dice = Dice(state: UInt64(seed) &* 7_919 &+ 1)
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = RoomsFixture.actor("bob")
    let ann = RoomsFixture.actor("ann")
    let client = try fixture.client(
      "bob", filter: #"{"room":{"timeline":{"limit":\#(Int.random(in: 1...6, using: &dice))}}}"#)
    var copy = Copy()
    for _ in 0..<25 {
      for _ in 0..<Int.random(in: 0...12, using: &dice) {
        switch Int.random(in: 0..<10, using: &dice) {
        case 0 where fixture.rooms.cache.cachedSnapshot(of: room)?.isJoined(bob.userID) ?? false:
          try await fixture.rooms.leave(room, by: bob)
        case 0, 1: try await fixture.rooms.join(room, by: bob)
        case 2:
          let number = Int.random(in: 0...1_000_000, using: &dice)
          _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"\#(number)"}"#), in: room, by: ann)
        default: try await fixture.base.send("m", to: room, by: "ann")
        }
      }
      try await take(try await client.sync(), room, &copy, fixture)
    }
    try await fixture.rooms.join(room, by: bob)
    try await take(try await client.sync(), room, &copy, fixture)
    var visible = try await fixture.rooms.messages(
      of: room, for: bob.userID, from: nil, to: nil, .forward, limit: 1_000, EventFilter()
    ).events.map(\.eventID)
    // What came before the first sync was never asked for.
    visible = Array(visible.drop { $0 != copy.events.first })
    #expect(copy.events == visible)
    let state = try await fixture.rooms.state(of: room, for: bob.userID)
    for event in state { #expect(copy.state["\(event.type)|\(event.stateKey ?? "")"] == event.eventID) }
  }

  private func take(_ answer: SyncAnswer, _ roomID: RoomID, _ copy: inout Copy, _ fixture: SyncFixture) async throws {
    guard let room = answer.room(roomID) ?? answer.room(roomID, "leave") else { return }
    for event in room.json["state"]?["events"]?.elements.map({ $0 }) ?? [] {
      copy.state[key(event)] = EventID(event["event_id"])
    }
    for event in room.timeline where event["state_key"] != nil { copy.state[key(event)] = EventID(event["event_id"]) }
    var new = room.eventIDs
    if room.isLimited, !copy.events.isEmpty {
      var token = room.previous
      paging: while let from = token {
        let page = try await fixture.rooms.messages(
          of: roomID, for: RoomsFixture.user("bob"), from: from, to: nil, .backward, limit: 5, EventFilter())
        for event in page.events {
          if copy.known.contains(event.eventID) { break paging }
          new.insert(event.eventID, at: 0)
        }
        token = page.end
      }
    }
    for event in new { #expect(copy.known.insert(event).inserted, "told twice") }
    copy.events += new
  }

  private func key(_ event: JSON) -> String { "\(event["type"]?.string ?? "")|\(event["state_key"]?.string ?? "")" }

  @Test func `syncs beside a busy writer tell each event once`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"limit":1000}}}"#)
    try await bob.sync()
    let writing = Task {
      for number in 0..<300 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    }
    var bodies: [String] = []
    while bodies.count < 300 { bodies += try await bob.sync(timeout: 20_000).room(room)?.bodies ?? [] }
    try await writing.value
    #expect(bodies == (0..<300).map { "\($0)" })
  }
}
