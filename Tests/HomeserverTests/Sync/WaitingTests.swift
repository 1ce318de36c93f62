import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerSync

@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
  /// Waits for a sync that has been started to be parked.
  private func parked(_ fixture: SyncFixture, _ user: UserID) async {
    while !(fixture.notifier.watch(of: user)?.isParked ?? false) { await Task.yield() }
  }

  private func waiting(_ client: SyncClient) -> Task<SyncAnswer, any Error> {
    let (engine, request) = (client.fixture.engine, client.request(timeout: 50_000))
    return Task { SyncAnswer(json: try JSON.parse(try await engine.sync(request))) }
  }

  @Test func `a message wakes who waits`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let sync = waiting(bob)
    await parked(fixture, bob.user)
    try await fixture.base.send("up", to: room, by: "ann")
    #expect(try await sync.value.room(room)?.bodies == ["up"])
    #expect(fixture.notifier.watch(of: bob.user)?.isParked == false)
  }

  @Test func `an invitation, an account datum, a receipt and typing wake who waits`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let other = try await fixture.room(of: "ann", settings: "{}")
    let message = try await fixture.base.send("x", to: room, by: "bob")
    let (ann, bob) = (RoomsFixture.user("ann"), try fixture.client("bob"))
    let news: [@Sendable () async throws -> Void] = [
      { try await fixture.rooms.invite(RoomsFixture.user("bob"), to: other, by: RoomsFixture.actor("ann")) },
      { try await fixture.accountData.set("x", json("{}"), of: RoomsFixture.user("bob"), in: nil) },
      { try await fixture.receipts.move(.init(read: message), of: ann, in: room) },
      { try await fixture.rooms.setTyping(true, of: ann, in: room, timeoutMilliseconds: 30_000) }
    ]
    for happen in news {
      try await bob.sync()
      let sync = waiting(bob)
      await parked(fixture, bob.user)
      try await happen()
      #expect(try await !sync.value.isIdle)
    }
  }

  @Test func `news that a filter drops leaves who waits asleep, and their token moves on`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"not_types":["m.room.message"]}}}"#)
    try await bob.sync()
    let sync = waiting(bob)
    await parked(fixture, bob.user)
    let before = bob.since
    try await fixture.base.send("unseen", to: room, by: "ann")
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: RoomsFixture.actor("ann"))
    let answer = try await sync.value
    #expect(answer.room(room)?.timeline.count == 1)
    #expect(try #require(answer.token).seen.position > before?.seen.position ?? 0)
  }

  @Test func `the timeout ends a wait with an answer that says nothing`() async throws {
    let fixture = try SyncFixture()
    _ = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let answer = try await bob.sync(timeout: 20)
    #expect(answer.isIdle && answer.json["device_one_time_keys_count"] != nil)
  }

  @Test func `a stopping server answers waiting syncs with what there is`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let sync = waiting(bob)
    await parked(fixture, bob.user)
    sync.cancel()
    let answer = try await sync.value
    #expect(answer.isIdle && answer.json["device_one_time_keys_count"] != nil)
    #expect(fixture.notifier.watch(of: bob.user)?.isParked == false)
    // Nothing is lost: the next server goes on from there.
    bob.since = answer.token
    try await fixture.base.send("later", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["later"])
  }

  @Test func `a stopping server answers waiting sliding syncs with what there is`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync()
    let request = try SlidingRequest(
      json(bob.body), SlidingRequest.Query(position: bob.pos, timeoutMilliseconds: 50_000), of: bob.user, bob.device)
    let sync = Task { SlidingAnswer(json: try JSON.parse(try await fixture.sliding.sync(request))) }
    await parked(fixture, bob.user)
    sync.cancel()
    let answer = try await sync.value
    #expect(answer.rooms.isEmpty)
    bob.pos = answer.json["pos"]?.text
    try await fixture.base.send("later", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["later"])
  }

  @Test func `a change of the user's sessions ends their waits, and nobody else's`() async throws {
    let fixture = try SyncFixture()
    _ = try await fixture.room(of: "ann", "bob")
    let (ann, bob) = (try fixture.client("ann"), try fixture.client("bob"))
    for client in [ann, bob] { try await client.sync() }
    let syncs = [waiting(ann), waiting(bob)]
    for client in [ann, bob] { await parked(fixture, client.user) }
    fixture.notifier.endWaits(of: bob.user)
    #expect(try await syncs[1].value.isIdle)
    #expect(fixture.notifier.watch(of: ann.user)?.isParked == true)
    syncs[0].cancel()
    _ = try await syncs[0].value
  }

  @Test func `who left is not woken by the room`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    try await bob.sync()
    try await fixture.base.send("x", to: room, by: "ann")
    let watch = try #require(fixture.notifier.watch(of: bob.user))
    #expect(!watch.hasNews(after: try #require(bob.since).seen))
  }

  @Test func `typing ends by its timeout, by stopping and by sending`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let ann = RoomsFixture.user("ann")
    let bob = try fixture.client("bob")
    try await bob.sync()
    func start(_ milliseconds: Int64) async throws {
      try await fixture.rooms.setTyping(true, of: ann, in: room, timeoutMilliseconds: milliseconds)
      #expect(try await bob.sync().room(room)?.typing == ["@ann:example.org"])
    }
    try await start(30_000)
    try await fixture.rooms.setTyping(false, of: ann, in: room, timeoutMilliseconds: 0)
    #expect(try await bob.sync().room(room)?.typing == [])
    try await start(30_000)
    try await fixture.base.send("typed", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.typing == [])
    try await start(200)
    #expect(try await bob.sync(timeout: 50_000).room(room)?.typing == [])
    #expect(
      await errorCode {
        try await fixture.rooms.setTyping(true, of: RoomsFixture.user("eve"), in: room, timeoutMilliseconds: 1)
      } == .forbidden)
  }
}
