import JSON
import MatrixModel
import Synchronization
import Testing

@testable import Homeserver

/// Who goes out of a room while a sync of theirs is being answered.
@Suite(.timeLimit(.minutes(1))) struct LeavingTests {
  /// Keeps all readers of the database busy until it is let go.
  private final class BusyReaders: Sendable {
    private let entered = Atomic(0)
    private let isOver = Atomic(false)

    func hold(_ fixture: SyncFixture) async -> [Task<Void, any Error>] {
      let count = fixture.base.configuration.database.readerCount
      let jobs = (0..<count).map { _ in
        Task {
          try await fixture.database.read { [self] _ in
            entered.wrappingAdd(1, ordering: .sequentiallyConsistent)
            while !isOver.load(ordering: .sequentiallyConsistent) {}
          }
        }
      }
      while entered.load(ordering: .sequentiallyConsistent) < count { await Task.yield() }
      return jobs
    }

    func release() { isOver.store(true, ordering: .sequentiallyConsistent) }
  }

  @Test(arguments: [true, false]) func `what came before one went is told, also where a sync waits for rows meanwhile`(
    isBanned: Bool
  )
    async throws
  {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    // The federation format is in the rows only.
    let bob = try fixture.client("bob", filter: #"{"event_format":"federation"}"#)
    // The second one acknowledges the first: the next has nothing to do before its answer.
    for _ in 0..<2 { try await bob.sync() }
    try await fixture.base.send("before", to: room, by: "ann")
    let readers = BusyReaders()
    let jobs = await readers.hold(fixture)
    let (engine, request) = (fixture.engine, bob.request())
    let sync = Task { SyncAnswer(json: try JSON.parse(try await engine.sync(request))) }
    while fixture.database.statistics.waitingReads == 0 { await Task.yield() }
    if isBanned {
      try await fixture.rooms.ban(bob.user, from: room, by: RoomsFixture.actor("ann"))
    } else {
      try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    }
    readers.release()
    for job in jobs { try await job.value }
    let first = try await sync.value
    bob.since = first.token
    let second = try await bob.sync()
    let told = (first.room(room)?.bodies ?? []) + (second.room(room, "leave")?.bodies ?? [])
    #expect(told == ["before"])
    #expect(second.room(room, "leave")?.timeline.count == 1)
  }
}
