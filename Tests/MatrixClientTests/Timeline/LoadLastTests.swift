import Synchronization
import Testing

@testable import MatrixClient

@Suite struct LoadLastTests {
  /// `/messages` with that token: the newest event first, and where it goes on; nil ends at the start of the room.
  private typealias Pages = [String: (events: [String], end: String?)]

  private static func script(_ pages: Pages, failing: @escaping @Sendable () -> Bool = { false }) -> ScriptedServer {
    ScriptedServer { request in
      guard request.target.contains("/messages?") else { return nil }
      if failing() { return (403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#) }
      guard let page = pages.first(where: { request.target.contains("from=\($0.key)") })?.value else { return nil }
      let end = page.end.map { #","end":"\#($0)""# } ?? ""
      return (200, #"{"start":"x","chunk":[\#(page.events.joined(separator: ","))]\#(end)}"#)
    }
  }

  private static func bodies(_ timeline: MatrixTimeline) async -> [String] {
    await timeline.items.map { item in
      switch item.content {
      case .message(let message): message.body.string
      case .gap: "[gap]"
      default: "?"
      }
    }
  }

  private static func message(_ name: String) -> String { Script.message(name, "$\(name)") }

  @Test(.timeLimit(.minutes(1))) func `so many of the last items are loaded, gaps on the way and older pages`() async throws {
    let script = Self.script([
      "g1": ([Self.message("e"), Self.message("d"), Self.message("c")], nil),
      "p1": ([Self.message("b")], "p2"), "p2": ([Self.message("a")], nil)
    ])
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    script.push(Script.rooms(Script.limitedRoom("!tea:test", [Self.message("c")], from: "p1")))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    let timeline = client.room(ModelTests.tea).timeline()
    try await timeline.open()
    script.push(Script.rooms(Script.limitedRoom("!tea:test", [Self.message("f")], from: "g1")))
    await client.wait { @Sendable in $0.timeline(timeline.key)?.items.count == 3 }
    try await timeline.loadLast(1)
    #expect(await Self.bodies(timeline) == ["c", "[gap]", "f"])
    try await timeline.loadLast(3)
    #expect(await Self.bodies(timeline) == ["c", "d", "e", "f"])
    try await timeline.loadLast(5)
    #expect(await Self.bodies(timeline) == ["b", "c", "d", "e", "f"])
    try await timeline.loadLast(2) { if case .message(let message) = $0.content { message.body == "a" } else { false } }
    #expect(await Self.bodies(timeline).first == "a")
    // There are no more.
    try await timeline.loadLast(100)
    #expect(script.requests("/messages?").count == 3)
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `what the server says instead is thrown`() async throws {
    let script = Self.script([:], failing: { true })
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    script.push(Script.rooms(Script.limitedRoom("!tea:test", [Self.message("c")], from: "p1")))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    await #expect(throws: ClientError.self) { try await client.room(ModelTests.tea).timeline().loadLast(2) }
    await client.stop()
  }
}
