import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms
@testable import ServerSync

/// Whatever restarts, the server or the client before it has stored its answer: nothing is lost and nothing comes twice.
@Suite struct RestartPropertyTests {
  /// What a client has stored, together with its tokens.
  private struct Copy {
    var events: [EventID] = []
    var known: Set<EventID> = []
    var messages: [String] = []
  }

  private enum Restart: CaseIterable {
    case none, client, server, both
  }

  private static let user = RoomsFixture.user("bob")

  @Test func `no event is lost or doubled over restarts of a client of v3 sync`() async throws {
    try await repeatRuns(long: 1_000) { seed in try await self.runV3(seed: seed) }
  }

  @Test func `no event is lost or doubled over restarts of a client of sliding sync`() async throws {
    try await repeatRuns(long: 1_000) { seed in try await self.runSliding(seed: seed) }
  }

  private func repeatRuns(long: Int, _ run: (Int) async throws -> Int) async throws {
    let wanted = Trials.count(60, long: long)
    var restarts = 0
    var seed = Trials.seed
    while restarts < wanted {
      restarts += try await run(seed)
      seed += 1
    }
  }

  // MARK: v3

  private func runV3(seed: Int) async throws -> Int {
    var dice = Dice(seed: seed)
    var fixture = try SyncFixture()
    let room = try await start(fixture)
    let filter = try SyncFilter(json(#"{"room":{"timeline":{"limit":\#(1 + dice.below(6))}}}"#))
    var (copy, since, restarts, sent) = (Copy(), SyncToken?.none, 0, 0)
    for _ in 0..<25 {
      try await happen(fixture, room, &sent, &dice)
      let client = SyncClient(fixture, "bob", "DEVICE", filter)
      client.since = since
      let answer = try await client.sync()
      let restart = dice.pick(Restart.allCases)
      if restart != .none { restarts += 1 }
      if restart == .none || restart == .server {
        if let told = answer.room(room) {
          try await append(
            told.eventIDs, isLimited: told.isLimited, from: told.previous, isInitial: false, room, &copy, fixture)
        }
        copy.messages += answer.toDevice
        since = answer.token
      }
      if restart == .server || restart == .both { fixture = try fixture.reopened() }
    }
    let client = SyncClient(fixture, "bob", "DEVICE", filter)
    client.since = since
    let answer = try await client.sync()
    if let told = answer.room(room) {
      try await append(told.eventIDs, isLimited: told.isLimited, from: told.previous, isInitial: false, room, &copy, fixture)
    }
    copy.messages += answer.toDevice
    try await compare(copy, room, sent, fixture, seed)
    return restarts
  }

  // MARK: Sliding sync

  private func runSliding(seed: Int) async throws -> Int {
    var dice = Dice(seed: seed)
    var fixture = try SyncFixture()
    let room = try await start(fixture)
    let timeline = 1 + dice.below(6)
    var (copy, pos, since, restarts, sent) = (Copy(), ByteString?.none, String?.none, 0, 0)
    func ask() async throws -> SlidingAnswer {
      let token = since.map { #","since":"\#($0)""# } ?? ""
      let client = SlidingClient(
        fixture, "bob",
        SlidingClient.list("[0,0]", timeline: timeline, more: #","extensions":{"to_device":{"enabled":true\#(token)}}"#))
      client.pos = pos
      do {
        return try await client.ask()
      } catch let error as MatrixError where error.code == "M_UNKNOWN_POS" {
        client.pos = nil
        return try await client.ask()
      }
    }
    func store(_ answer: SlidingAnswer) async throws {
      if let told = answer.room(room) {
        try await append(
          told.eventIDs, isLimited: told.isLimited, from: told.previous, isInitial: told.isInitial, room, &copy, fixture)
      }
      let device = answer.extensionAnswer("to_device")
      copy.messages += device?["events"]?.elements.compactMap { $0["content"]?["n"]?.string } ?? []
      since = device?["next_batch"]?.string
      pos = answer.json["pos"]?.text
    }
    for _ in 0..<25 {
      try await happen(fixture, room, &sent, &dice)
      let answer = try await ask()
      let restart = dice.pick(Restart.allCases)
      if restart != .none { restarts += 1 }
      if restart == .none || restart == .server { try await store(answer) }
      if restart == .server || restart == .both { fixture = try fixture.reopened() }
    }
    try await fixture.base.send("last", to: room, by: "ann")
    try await store(try await ask())
    try await store(try await ask())
    try await compare(copy, room, sent, fixture, seed)
    return restarts
  }

  // MARK: Both

  private func start(_ fixture: SyncFixture) async throws -> RoomID {
    try await fixture.addDevice("bob")
    return try await fixture.room(of: "ann", "bob")
  }

  private func happen(_ fixture: SyncFixture, _ room: RoomID, _ sent: inout Int, _ dice: inout Dice) async throws {
    for _ in 0..<dice.below(10) {
      switch dice.below(8) {
      case 0:
        _ = try await fixture.rooms.setState(
          .topic, "", json(#"{"topic":"\#(dice.next())"}"#), in: room, by: RoomsFixture.actor("ann"))
      case 1:
        try await fixture.toDevice.send(
          "m.test", TransactionID(trusted: ByteString("\(sent)")), from: await fixture.session("ann"),
          messages: json(#"{"@bob:example.org":{"DEVICE":{"n":"\#(sent)"}}}"#))
        sent += 1
      case 2: _ = try await fixture.room(of: "ann", "bob")
      default: try await fixture.base.send("m", to: room, by: dice.below(4) == 0 ? "bob" : "ann", transaction: "\(dice.next())")
      }
    }
  }

  /// Takes an answer in as a client does: what is new comes behind what it has, a gap is filled by paging back.
  private func append(
    _ told: [EventID], isLimited: Bool, from previous: TimelineToken?, isInitial: Bool, _ room: RoomID, _ copy: inout Copy,
    _ fixture: SyncFixture
  ) async throws {
    var new = told
    if isInitial, let last = new.lastIndex(where: { copy.known.contains($0) }) {
      new.removeFirst(last + 1)
    } else if isLimited, !copy.events.isEmpty {
      var token = previous
      paging: while let from = token {
        let page = try await fixture.rooms.messages(
          of: room, for: Self.user, from: from, to: nil, .backward, limit: 5, EventFilter())
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

  private func compare(_ copy: Copy, _ room: RoomID, _ sent: Int, _ fixture: SyncFixture, _ seed: Int) async throws {
    let visible = try await fixture.rooms.messages(
      of: room, for: Self.user, from: nil, to: nil, .forward, limit: 1_000, EventFilter()
    ).events.map(\.eventID)
    #expect(copy.events == Array(visible.drop { $0 != copy.events.first }), "seed \(seed)")
    #expect(copy.messages == (0..<sent).map { "\($0)" }, "seed \(seed)")
  }
}
