import Testing

@testable import MatrixClient

@Suite struct TimelineReaderTests {
  private static let (alice, bob) = (UserID(trusted: "@alice:test"), UserID(trusted: "@bob:test"))

  /// Alice has written two messages in a room of three; the timeline of it.
  @MainActor private static func timeline(
    _ body: @MainActor (TimelineModel, ScriptedServer) async throws -> Void
  ) async throws {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    script.push(
      Script.rooms(
        Script.room(
          "!tea:test", [Script.message("one", "$1"), Script.message("two", "$2")],
          state: [Script.member("@alice:test", "Alice"), Script.member("@bob:test", "Bob")],
          extra: #","summary":{"m.joined_member_count":3}"#)))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    let timeline = ClientModel(client).timeline(.live(ModelTests.tea))
    await ModelTests.until { timeline.items.count == 2 }
    try await body(timeline, script)
    await client.stop()
  }

  private static func receipt(_ event: String, _ user: String) -> String {
    Script.rooms(
      Script.room(
        "!tea:test",
        extra: #","ephemeral":{"events":[{"type":"m.receipt","content":{"\#(event)":{"m.read":{"\#(user)":{"ts":1}}}}}]}"#))
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a timeline shows who has read an item, and how many have not`() async throws {
    try await Self.timeline { timeline, script in
      let (one, two) = (timeline.items[0], timeline.items[1])
      #expect(timeline.receipts(at: one).isEmpty && timeline.readers(of: one).isEmpty)
      #expect(timeline.unreadMemberCount(of: one) == 2 && timeline.unreadMemberCount(of: two) == 2)
      script.push(Self.receipt("$1", "@bob:test"))
      await ModelTests.until { timeline.receipts(at: one) == [Self.bob] }
      #expect(timeline.members[Self.bob]?.name == "Bob")
      #expect(timeline.unreadMemberCount(of: one) == 1 && timeline.unreadMemberCount(of: two) == 2)
      // Further on: the receipt stands elsewhere, the item stays read.
      script.push(Self.receipt("$2", "@bob:test"))
      await ModelTests.until { timeline.receipts(at: two) == [Self.bob] }
      #expect(timeline.receipts(at: one).isEmpty && timeline.readers(of: one) == [Self.bob])
      #expect(timeline.unreadMemberCount(of: two) == 1)
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a user who writes has read; the user's own receipt counts but is not shown`()
    async throws
  {
    try await Self.timeline { timeline, script in
      let two = timeline.items[1]
      script.push(Self.receipt("$2", "@me:test"))
      await ModelTests.until { timeline.unreadMemberCount(of: two) == 1 }
      #expect(timeline.readers(of: two).isEmpty)
      script.push(Script.rooms(Script.room("!tea:test", [Script.message("three", "$3", by: "@bob:test")])))
      await ModelTests.until { timeline.readers(of: two) == [Self.bob] }
      let three = try #require(timeline.items.last)
      #expect(timeline.receipts(at: three) == [] && timeline.readers(of: three) == [])
      // Alice has not read it, though she is in front of it.
      #expect(timeline.unreadMemberCount(of: three) == 2)
      #expect(timeline.unreadMemberCount(of: two) == 0)
    }
  }
}
