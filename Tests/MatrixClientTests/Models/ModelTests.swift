import Observation
import Synchronization
import Testing

@testable import MatrixClient

@Suite struct ModelTests {
  static let tea = RoomID(trusted: "!tea:test")
  static let cake = RoomID(trusted: "!cake:test")

  /// Signed in, two rooms.
  static func start(_ script: ScriptedServer, _ server: FixtureServer) async throws -> MatrixClient {
    script.push(
      Script.rooms(
        Script.room("!tea:test", state: [Script.name("Tea"), Script.member("@alice:test", "Alice")]),
        Script.room("!cake:test", state: [Script.name("Cake"), Script.member("@alice:test", "Alice")])))
    return try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
  }

  /// Waits until it is so, looking again whenever something that it read has changed.
  @MainActor static func until(_ isSo: @escaping @MainActor () -> Bool) async {
    while !Task.isCancelled {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      let done = withObservationTracking(isSo) { continuation.yield() }
      if done { return }
      for await _ in changes { break }
    }
  }

  /// How often what `read` reads was going to change.
  final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }

    @MainActor func watch(_ read: @escaping @MainActor () -> Void) {
      withObservationTracking(read) { [weak self] in
        self?.add()
        Task { @MainActor in self?.watch(read) }
      }
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `the models show the account, its rooms and what is unread`() async throws {
    let script = ScriptedServer { request in
      request.target.contains("/profile/") ? (200, #"{"displayname":"Me","avatar_url":"mxc://test/me"}"#) : nil
    }
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let model = ClientModel(client)
    await Self.until { model.displayName == "Me" && model.userID?.string == "@me:test" }
    await Self.until { model.roomList.roomIDs.count == 2 }
    await Self.until { if case .running = model.connection { true } else { false } }
    #expect(model.sessionState == .signedIn)
    #expect(model.avatar?.string == "mxc://test/me")
    let tea = model.room(Self.tea)
    #expect(tea.isKnown && tea.name == "Tea" && tea.membership == .join)
    #expect(tea === model.roomList[Self.tea])
    script.push(Script.rooms(Script.room("!tea:test", [Script.message("hot", "$1")], unread: 2)))
    await Self.until { tea.notificationCount == 2 }
    await Self.until { model.notificationCount == 2 }
    #expect(tea.preview?.body == "hot" && tea.preview?.senderName == "Alice")
    #expect(model.roomList.roomIDs == [Self.tea, Self.cake])
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a change of one room touches its model alone, and there what is different`()
    async throws
  {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let model = ClientModel(client)
    await Self.until { model.roomList.roomIDs.count == 2 }
    let (tea, cake) = (model.room(Self.tea), model.room(Self.cake))
    let (cakes, names, accounts) = (Counter(), Counter(), Counter())
    cakes.watch { _ = (cake.name, cake.topic, cake.preview, cake.typing, cake.notificationCount, cake.joinedMemberCount) }
    names.watch { _ = (tea.name, tea.avatar, tea.draft, tea.isDirect, tea.powerLevels == nil, tea.membership) }
    accounts.watch { _ = (model.displayName, model.avatar, model.userID, model.sessionState) }
    script.push(Script.rooms(Script.room("!tea:test", typing: ["@alice:test"])))
    await Self.until { tea.typing == ["Alice"] }
    script.push(Script.rooms(Script.room("!tea:test", [Script.message("hot", "$1")], unread: 1, typing: [])))
    await Self.until { tea.notificationCount == 1 && tea.typing.isEmpty }
    #expect([cakes.count, names.count, accounts.count] == [0, 0, 0])
    script.push(Script.rooms(Script.room("!tea:test", [Script.name("Coffee")])))
    await Self.until { tea.name == "Coffee" }
    #expect(names.count > 0)
    #expect([cakes.count, accounts.count] == [0, 0])
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a timeline is open while its model lives`() async throws {
    let script = ScriptedServer { request in
      request.target.contains("/send/") ? (200, #"{"event_id":"$sent"}"#) : nil
    }
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let model = ClientModel(client)
    var timeline: TimelineModel? = model.room(Self.tea).timeline
    #expect(timeline === model.timeline(.live(Self.tea)))
    await Self.until { [timeline] in timeline?.loadState == .loaded }
    script.push(Script.rooms(Script.room("!tea:test", [Script.message("one", "$1"), Script.message("two", "$2")])))
    await Self.until { [timeline] in timeline?.items.last?.eventID?.string == "$2" }
    let first = try #require(timeline?.items.last)
    #expect(timeline?.senderName(of: first) == "Alice")
    try await timeline?.send("three")
    await Self.until { [timeline] in
      timeline?.items.count == (timeline?.items.lastIndex { $0.sender.string == "@me:test" } ?? -2) + 1
    }
    #expect(await client.core.isOpen(.live(Self.tea)))
    weak let dropped = timeline
    timeline = nil
    #expect(dropped == nil)
    await client.wait { @Sendable in !$0.isOpen(.live(Self.tea)) }
    await client.stop()
  }

  // Proves P3
  @Test(.timeLimit(.minutes(1))) @MainActor func `where everybody has one reaction, another takes its place`() async throws {
    let script = ScriptedServer { request in
      request.target.contains("/send/m.reaction/")
        ? (200, #"{"event_id":"$\#(request.target.split(separator: "/").last!)"}"#)
        : request.target.contains("/redact/") ? (200, #"{"event_id":"$gone"}"#) : nil
    }
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let timeline = ClientModel(client).timeline(.live(Self.tea))
    await Self.until { timeline.loadState == .loaded }
    script.push(Script.rooms(Script.room("!tea:test", [Script.message("one", "$1")])))
    await Self.until { timeline.items.last?.eventID?.string == "$1" }
    let item = try #require(timeline.items.last).id
    func isOwn(_ keys: [String]) -> Bool {
      timeline.items.first { $0.id == item }?.reactions.filter(\.isOwn).map(\.key.string) == keys
    }
    func sent(_ reactions: Int, _ redactions: Int) async {
      while script.requests("/send/m.reaction/").count != reactions || script.requests("/redact/").count != redactions {
        if Task.isCancelled { return }
        await Task.yield()
      }
    }
    try await timeline.setReaction("+", to: item)
    await sent(1, 0)
    await Self.until { isOwn(["+"]) }
    try await timeline.setReaction("+", to: item)
    try await timeline.setReaction("-", to: item)
    await sent(2, 1)
    await Self.until { isOwn(["-"]) }
    try await timeline.setReaction(nil, to: item)
    await sent(2, 2)
    await Self.until { isOwn([]) }
    // Nobody waits between them.
    async let first: Void = timeline.setReaction("a", to: item)
    async let second: Void = timeline.setReaction("b", to: item)
    async let third: Void = timeline.setReaction("b", to: item)
    try await first
    try await second
    try await third
    let reactions = await client.core.timeline(.live(Self.tea))?.item(item)?.reactions
    #expect(reactions?.count { $0.isOwn } == 1)
    await #expect(throws: ClientError.self) { try await timeline.setReaction("a", to: 9_999) }
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `what others opened stays open when a model goes`() async throws {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    try await client.perform(.timeline(.openRoom(Self.tea)))
    let model = ClientModel(client)
    var timeline: TimelineModel? = model.timeline(.live(Self.tea))
    await Self.until { [timeline] in timeline?.loadState == .loaded }
    timeline = nil
    while await !client.watchedTimelines.isEmpty { await Task.yield() }
    #expect(await client.core.isOpen(.live(Self.tea)))
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `models go when nobody holds them, and the client listens no more`()
    async throws
  {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    weak var account: ClientModel?
    weak var list: RoomListModel?
    weak var room: RoomModel?
    weak var feed: ModelFeed?
    do {
      let model = ClientModel(client)
      let roomList = model.roomList
      let tea = model.room(Self.tea)
      await Self.until { roomList.roomIDs.count == 2 && tea.isKnown }
      (account, list, room, feed) = (model, roomList, tea, model.feed)
      #expect(await client.mails.count == 1)
    }
    while feed != nil { await Task.yield() }
    #expect(account == nil && list == nil && room == nil)
    while await !client.mails.isEmpty { await Task.yield() }
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `what comes while the main actor is busy comes in one step`() async throws {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let model = ClientModel(client)
    let tea = model.room(Self.tea)
    await Self.until { tea.isKnown }
    let before = model.feed.batchCount
    // The client changes a hundred times in one turn of its own.
    await client.change(draftOf: Self.tea, times: 100)
    await Self.until { tea.draft == "100" }
    #expect(model.feed.batchCount - before <= 2)
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a member of a power may do what it says`() async throws {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let client = try await Self.start(script, server)
    let model = ClientModel(client)
    let tea = model.room(Self.tea)
    await Self.until { tea.isKnown }
    // Nobody knows: the server is the one to say no.
    #expect(tea.canInvite && tea.canSend())
    let levels = #"{"users":{"@me:test":10},"events_default":20,"invite":5}"#
    script.push(
      Script.rooms(
        Script.room(
          "!tea:test",
          [
            Script.event("m.room.create", #"{"room_version":"10"}"#, stateKey: ""),
            Script.event("m.room.power_levels", levels, stateKey: "")
          ])))
    await Self.until { tea.powerLevels != nil }
    #expect(tea.canInvite && !tea.canSend() && !tea.canNotifyRoom)
    #expect(!tea.canKick(UserID(trusted: "@alice:test")))
    await client.stop()
  }
}

extension MatrixClient {
  fileprivate func change(draftOf room: RoomID, times: Int) {
    for number in 1...times { handle(.command(.sending(.setDraft(room, Draft(ByteString("\(number)")))), id: 0)) }
  }
}
