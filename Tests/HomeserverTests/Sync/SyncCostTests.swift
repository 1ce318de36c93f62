import JSON
import MatrixModel
import Synchronization
import Testing

@testable import ServerRooms
@testable import ServerSync

/// Which syncs are charged like an initial one: what tells everything, and what tells much again.
@Suite struct SyncCostTests {
  private struct Refused: Error {}

  /// Whether a sync is charged.
  private func isCharged(_ client: SyncClient, _ change: (inout SyncRequest) -> Void = { _ in }) async throws -> Bool {
    var request = client.request()
    change(&request)
    let count = Counter()
    let answer = SyncAnswer(json: try JSON.parse(try await client.fixture.engine.sync(request) { count.add() }))
    client.since = answer.token
    return count.value == 1
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
  }

  private func say(_ count: Int, in room: RoomID, _ fixture: SyncFixture) async throws {
    for number in 0..<count { try await fixture.base.send("\(number)", to: room, by: "bob") }
  }

  @Test func `what tells everything is charged, what goes on from the last answer is not`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let ann = try fixture.client("ann")
    #expect(try await isCharged(ann))
    #expect(try await !isCharged(ann))
    // More than the room keeps in memory: others were charged for sending it.
    try await say(RoomSnapshot.tailLimit + 1, in: room, fixture)
    #expect(try await !isCharged(ann))
    #expect(try await !isCharged(ann))
    #expect(try await isCharged(ann) { $0.isFullState = true })
  }

  @Test func `what was told is told again for nothing while it is in memory`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let ann = try fixture.client("ann")
    try await ann.sync()
    let old = ann.since
    for (count, isDear) in [(RoomSnapshot.tailLimit, false), (1, true)] {
      try await say(count, in: room, fixture)
      #expect(try await !isCharged(ann))
      ann.since = old
      #expect(try await isCharged(ann) == isDear)
      #expect(try await !isCharged(ann))
    }
  }

  @Test func `few rooms are told again for nothing`() async throws {
    let fixture = try SyncFixture()
    var rooms: [RoomID] = []
    for _ in 0...SyncEngine.retoldRoomsLimit { rooms.append(try await fixture.room(of: "ann", "bob")) }
    let ann = try fixture.client("ann")
    try await ann.sync()
    let old = ann.since
    for room in rooms.dropLast() { try await say(1, in: room, fixture) }
    try await ann.sync()
    ann.since = old
    #expect(try await !isCharged(ann))
    try await say(1, in: #require(rooms.last), fixture)
    try await ann.sync()
    ann.since = old
    #expect(try await isCharged(ann))
  }

  @Test func `a room that is new to the user is dear to tell again`() async throws {
    let fixture = try SyncFixture()
    let ann = try fixture.client("ann")
    try await ann.sync()
    let old = ann.since
    _ = try await fixture.room(of: "bob", "ann")
    #expect(try await !isCharged(ann))
    ann.since = old
    #expect(try await isCharged(ann))
  }

  @Test func `after a restart nobody knows what was told, and the first answer with news is charged`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let ann = try fixture.client("ann")
    try await ann.sync()
    let idle = try fixture.reopened()
    var again = try idle.client("ann")
    again.since = ann.since
    #expect(try await !isCharged(again))
    try await say(1, in: room, idle)
    let busy = try idle.reopened()
    again = try busy.client("ann")
    again.since = ann.since
    #expect(try await isCharged(again))
    try await say(1, in: room, busy)
    #expect(try await !isCharged(again))
  }

  @Test func `a sync that is refused has no effect`() async throws {
    let fixture = try SyncFixture()
    _ = try await fixture.room(of: "ann")
    let ann = try fixture.client("ann")
    await #expect(throws: Refused.self) { try await fixture.engine.sync(ann.request()) { throw Refused() } }
    try await ann.sync()
    let request = ann.request()
    #expect(try await !fixture.engine.sync(request) { throw Refused() }.isEmpty)
  }

  // MARK: Sliding sync

  /// What an answer is charged with; nil for nothing.
  private func charge(_ client: SlidingClient, keepsPosition: Bool = true) async throws -> Double? {
    let request = try SlidingRequest(
      json(client.body), SlidingRequest.Query(position: client.pos), of: client.user, client.device)
    let shares = Mutex<[Double]>([])
    let bytes = try await client.fixture.sliding.sync(request) { share in shares.withLock { $0.append(share) } }
    if keepsPosition { client.pos = try JSON.parse(bytes)["pos"]?.text }
    let charged = shares.withLock { $0 }
    #expect(charged.count <= 1)
    return charged.first
  }

  @Test func `a connection's first answer is charged, news of rooms it knows are not`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let ann = SlidingClient(fixture, "ann", SlidingClient.list())
    #expect(try await charge(ann) == 1)
    #expect(try await charge(ann) == nil)
    try await say(RoomSnapshot.tailLimit, in: room, fixture)
    #expect(try await charge(ann, keepsPosition: false) == nil)
    try await say(1, in: room, fixture)
    #expect(try await charge(ann, keepsPosition: false) ?? 0 > 0)
    #expect(try await charge(ann) ?? 0 > 0)
    #expect(try await charge(ann) == nil)
  }

  @Test func `a longer timeline, more rooms and other state are charged by what they look up`() async throws {
    let fixture = try SyncFixture()
    for _ in 0..<4 { _ = try await fixture.room(of: "ann", "bob") }
    let ann = SlidingClient(fixture, "ann", SlidingClient.list("[0,0]", timeline: 1))
    _ = try await charge(ann)
    ann.body = SlidingClient.list("[0,0]", timeline: 50)
    #expect(try await charge(ann, keepsPosition: false) == 0.05)
    // A request that is made again is answered again.
    #expect(try await charge(ann) == 0.05)
    #expect(try await charge(ann) == nil)
    ann.body = SlidingClient.list("[0,1]", timeline: 50)
    let one = try #require(try await charge(ann))
    ann.body = SlidingClient.list("[0,3]", timeline: 50)
    let two = try #require(try await charge(ann))
    #expect(one > 0.05 && two == 2 * one)
    ann.body = SlidingClient.list("[0,3]", timeline: 50, state: #"[["*","*"]]"#)
    #expect(try await charge(ann) ?? 0 > 0)
    #expect(try await charge(ann) == nil)
    ann.body = SlidingClient.list("[0,3]", timeline: 1, state: #"[["*","*"]]"#)
    #expect(try await charge(ann) == nil)
    ann.body = SlidingClient.list("[0,3]", timeline: SlidingRequest.timelineLimit, state: #"[["*","*"]]"#)
    #expect(try await charge(ann) == 1)
  }
}
