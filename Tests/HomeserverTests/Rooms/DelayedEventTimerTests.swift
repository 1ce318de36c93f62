import JSON
import MatrixModel
import Telemetry
import Testing

@testable import ServerDirectory

/// Delayed events are sent by themselves: a timer looks at the clock, which stands still until a test moves it.
@Suite(.timeLimit(.minutes(1))) struct DelayedEventTimerTests {
  private static let start: Int64 = 1_700_000_000_000

  private static func delayed(_ fixture: SyncFixture) -> DelayedEvents {
    let clock = fixture.base.configuration.clock
    return DelayedEvents(
      DelayedEventLimits(), database: fixture.database, rooms: fixture.rooms, state: DelayedState(clock: clock), clock: clock,
      log: Log("test"))
  }

  /// The account of the sender, which is looked at when an event is sent.
  private static func addAccount(_ fixture: SyncFixture) async throws {
    _ = try await fixture.database.write { transaction in
      try transaction.execute(
        "INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '')", RoomsFixture.user("ann"))
    }
  }

  private static func schedule(_ text: String, after delay: Int64, in room: RoomID, _ delayed: DelayedEvents) async throws {
    _ = try await delayed.schedule(
      DelayedEvent.Draft(
        roomID: room, type: .message, stateKey: nil, content: json(#"{"body":"\#(text)"}"#), delayMilliseconds: delay,
        transactionID: nil), by: RoomsFixture.actor("ann"))
  }

  /// Waits for the next messages of the room.
  private static func next(_ client: SyncClient, in room: RoomID) async throws -> [String] {
    while true {
      let bodies = try await client.sync(timeout: 50_000).room(room)?.bodies ?? []
      if !bodies.isEmpty { return bodies }
    }
  }

  @Test func `each event is sent when the clock says so, without anyone asking`() async throws {
    let fixture = try SyncFixture()
    try await Self.addAccount(fixture)
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let delayed = Self.delayed(fixture)
    delayed.start()
    try await Self.schedule("late", after: 120, in: room, delayed)
    try await Self.schedule("soon", after: 20, in: room, delayed)
    fixture.base.setTime(Self.start + 20)
    #expect(try await Self.next(bob, in: room) == ["soon"])
    fixture.base.setTime(Self.start + 119)
    try await fixture.base.send("between", to: room, by: "ann")
    #expect(try await Self.next(bob, in: room) == ["between"])
    fixture.base.setTime(Self.start + 120)
    #expect(try await Self.next(bob, in: room) == ["late"])
    await delayed.stop()
  }

  @Test func `what became due while nothing ran is sent at the start`() async throws {
    let fixture = try SyncFixture()
    try await Self.addAccount(fixture)
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let before = Self.delayed(fixture)
    try await Self.schedule("missed", after: 1_000, in: room, before)
    fixture.base.setTime(Self.start + 1_000)
    let after = Self.delayed(fixture)
    after.start()
    #expect(try await Self.next(bob, in: room) == ["missed"])
    await after.stop()
  }
}
