import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms

@Suite struct PresenceTests {
  private func shown(_ answer: SyncAnswer, _ name: String) -> JSON? {
    answer.json["presence"]?["events"]?.elements.first { $0["sender"]?.string == "@\(name):example.org" }?["content"]
  }

  private func start(_ fixture: SyncFixture) -> Int64 {
    fixture.base.setTime(1_700_000_000_000)
    return 1_700_000_000_000
  }

  @Test func `who syncs is online for those who share a room, and for nobody else`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    _ = try await fixture.room(of: "cid")
    let (ann, bob, cid) = (try fixture.client("ann"), try fixture.client("bob"), try fixture.client("cid"))
    for client in [bob, cid] { try await client.sync() }
    fixture.presence.flush()
    try await bob.sync()
    try await ann.sync()
    fixture.presence.flush()
    let told = try #require(shown(try await bob.sync(), "ann"))
    #expect(told["presence"]?.string == "online" && told["currently_active"]?.bool ?? false)
    #expect(told["last_active_ago"]?.integer == 0)
    #expect(shown(try await cid.sync(), "ann") == nil)
    #expect(shown(try await bob.sync(), "ann") == nil, "told once")
    // A first sync has everyone who is there.
    #expect(shown(try await fixture.client("ann", device: "NEW").sync(), "bob")?["presence"]?.string == "online")
    let status = try await fixture.presence.status(of: ann.user, for: bob.user)
    #expect(status.state == .online)
    #expect(await errorCode { _ = try await fixture.presence.status(of: ann.user, for: cid.user) } == .forbidden)
    #expect(try await fixture.presence.status(of: cid.user, for: cid.user).state == .online)
  }

  @Test func `after a minute active no longer, after five idle, away half a minute after the last sync`() async throws {
    let fixture = try SyncFixture()
    let start = start(fixture)
    let room = try await fixture.room(of: "ann", "bob")
    let (ann, bob) = (try fixture.client("ann"), try fixture.client("bob"))
    try await bob.sync()
    try await ann.sync()
    fixture.presence.sweep()
    try await bob.sync()
    func told(after seconds: Int64, annSyncs: Bool = true) async throws -> JSON? {
      fixture.base.setTime(start + seconds * 1_000)
      if annSyncs { try await ann.sync() }
      fixture.presence.sweep()
      return shown(try await bob.sync(), "ann")
    }
    #expect(try await told(after: 25) == nil)
    #expect(try await told(after: 50) == nil)
    let inactive = try #require(try await told(after: 61))
    #expect(inactive["presence"]?.string == "online" && inactive["currently_active"]?.bool == false)
    for seconds in stride(from: Int64(80), to: 300, by: 20) { #expect(try await told(after: seconds) == nil) }
    let idle = try #require(try await told(after: 301))
    #expect(idle["presence"]?.string == "unavailable" && idle["last_active_ago"]?.integer == 301_000)
    try await fixture.base.send("here again", to: room, by: "ann")
    #expect(try await told(after: 302)?["presence"]?.string == "online")
    #expect(try await told(after: 331, annSyncs: false) == nil)
    #expect(try await told(after: 333, annSyncs: false)?["presence"]?.string == "offline")
    #expect(fixture.presence.present().map(\.user) == [bob.user])
  }

  @Test func `set_presence says how a sync counts: not at all, or as idle; the most reachable device counts`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    let (ann, phone) = (try fixture.client("ann"), try fixture.client("ann", device: "PHONE"))
    func state() async throws -> PresenceState { try await fixture.presence.status(of: ann.user, for: ann.user).state }
    try await ann.sync { $0.presence = .offline }
    #expect(try await state() == .offline)
    try await ann.sync { $0.presence = .unavailable }
    #expect(try await state() == .unavailable)
    try await phone.sync()
    #expect(try await state() == .online)
    try await ann.sync { $0.presence = .unavailable }
    #expect(try await state() == .online)
  }

  @Test func `a status message reaches others and the user's other devices, and survives a restart`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    let (ann, bob) = (try fixture.client("ann"), try fixture.client("bob"))
    for client in [ann, bob] { try await client.sync() }
    fixture.presence.flush()
    for client in [ann, bob] { try await client.sync() }
    try await fixture.presence.set(.unavailable, "lunch", of: ann.user, ann.device)
    fixture.presence.flush()
    for client in [ann, bob] {
      let told = try #require(shown(try await client.sync { $0.presence = .offline }, "ann"))
      #expect(told["status_msg"]?.string == "lunch" && told["presence"]?.string == "unavailable")
      #expect(told["currently_active"] == nil)
    }
    let later = try fixture.reopened()
    #expect(try await later.presence.status(of: ann.user, for: bob.user).statusMessage == "lunch")
    #expect(try await later.presence.status(of: ann.user, for: bob.user).state == .offline)
    try await later.presence.set(.online, nil, of: ann.user, ann.device)
    #expect(try await later.presence.status(of: ann.user, for: bob.user).statusMessage == nil)
    let long = ByteString(String(repeating: "x", count: Presence.statusMessageBytesLimit))
    try await later.presence.set(.online, long, of: ann.user, ann.device)
    let longer = ByteString(long.string + "x")
    #expect(await errorCode { try await later.presence.set(.online, longer, of: ann.user, ann.device) } == .tooLarge)
  }

  @Test func `the user's other devices learn of a change once, and others no sooner than before`() async throws {
    let fixture = try SyncFixture()
    let start = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    let (ann, phone) = (try fixture.client("ann"), try fixture.client("ann", device: "PHONE"))
    let bob = try fixture.client("bob")
    try await phone.sync { $0.presence = .offline }
    try await bob.sync()
    fixture.presence.flush()
    try await bob.sync()
    let watch = try #require(fixture.notifier.watch(of: bob.user))
    func seen(by client: SyncClient) async throws -> String? {
      shown(try await client.sync { $0.presence = .offline }, "ann")?["presence"]?.string
    }
    try await ann.sync()
    #expect(try await seen(by: phone) == "online")
    #expect(try await seen(by: phone) == nil, "told once")
    #expect(try !watch.hasNews(after: #require(bob.since).seen))
    fixture.presence.flush()
    #expect(try watch.hasNews(after: #require(bob.since).seen))
    #expect(try await seen(by: bob) == "online")
    #expect(try await seen(by: phone) == nil)
    // Whether the user is active is told to others alone.
    for seconds in [25, 50, 61] {
      fixture.base.setTime(start + Int64(seconds) * 1_000)
      try await ann.sync()
    }
    fixture.presence.sweep()
    #expect(try await seen(by: bob) == "online")
    #expect(try await seen(by: phone) == nil)
    fixture.base.setTime(start + 92_000)
    fixture.presence.sweep()
    #expect(try await seen(by: phone) == "offline")
  }

  @Test func `the token of an answer comes after the presence that its request changed`() async throws {
    let fixture = try SyncFixture()
    let start = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    let ann = try fixture.client("ann")
    try await ann.sync()
    for (minute, isFullState) in [(1, true), (2, false)] {
      fixture.base.setTime(start + Int64(minute) * 60_000)
      fixture.presence.sweep()
      let answer = try await ann.sync { $0.isFullState = isFullState }
      #expect(shown(answer, "ann")?["presence"]?.string == "online")
      #expect(shown(try await ann.sync(), "ann") == nil)
      fixture.presence.flush()
      #expect(shown(try await ann.sync(), "ann") == nil)
    }
  }

  @Test func `who comes into a room is shown to its members, and they to them`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    let room = try await fixture.room(of: "ann")
    let (ann, bob) = (try fixture.client("ann"), try fixture.client("bob"))
    for client in [ann, bob] { try await client.sync() }
    fixture.presence.flush()
    for client in [ann, bob] { try await client.sync() }
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    #expect(shown(try await ann.sync(), "bob")?["presence"]?.string == "online")
    #expect(shown(try await bob.sync(), "ann")?["presence"]?.string == "online")
  }

  @Test func `a filter and the list of ignored users keep presence out`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    _ = try await fixture.room(of: "ann", "bob", "cid")
    for name in ["ann", "cid"] { try await fixture.client(name).sync() }
    let bob = try fixture.client("bob", filter: #"{"presence":{"not_senders":["@ann:example.org"]}}"#)
    let first = try await bob.sync()
    #expect(shown(first, "ann") == nil && shown(first, "cid") != nil)
    let none = try fixture.client("bob", filter: #"{"presence":{"types":[]}}"#)
    #expect(try await none.sync().json["presence"] == nil)
    try await fixture.accountData.set(
      .ignoredUserList, json(#"{"ignored_users":{"@cid:example.org":{}}}"#), of: bob.user, in: nil)
    #expect(shown(try await fixture.client("bob").sync(), "cid") == nil)
    #expect(
      await errorCode { _ = try await fixture.presence.status(of: RoomsFixture.user("cid"), for: bob.user) } == .forbidden)
  }

  @Test func `the members of a room who are there are counted`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    let room = try await fixture.room(of: "ann", "bob", "cid")
    _ = try await fixture.room(of: "dan")
    for name in ["ann", "dan"] { try await fixture.client(name).sync() }
    try await fixture.client("bob").sync { $0.presence = .unavailable }
    let snapshot = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    let counts = fixture.presence.counts(in: snapshot)
    #expect(counts.online == 1 && counts.unavailable == 1 && snapshot.joinedCount == 3)
  }

  @Test func `a parked sync is woken by somebody's presence, and one without it costs nothing`() async throws {
    let fixture = try SyncFixture()
    _ = start(fixture)
    _ = try await fixture.room(of: "ann", "bob")
    let (ann, bob) = (try fixture.client("ann"), try fixture.client("bob"))
    try await bob.sync()
    fixture.presence.flush()
    try await bob.sync()
    let parked = Task { [since = bob.since] in
      let client = try fixture.client("bob")
      client.since = since
      return try await client.sync(timeout: 60_000)
    }
    try await ann.sync()
    fixture.presence.flush()
    #expect(shown(try await parked.value, "ann") != nil)
  }
}
