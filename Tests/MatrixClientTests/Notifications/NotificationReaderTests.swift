import Testing

@testable import MatrixClient

@Suite(.timeLimit(.minutes(1))) struct NotificationReaderTests {
  static let tea = RoomID(trusted: "!tea:test")

  static func describe(_ outcome: NotificationOutcome) -> String {
    switch outcome {
    case .filteredOut: "filtered out"
    case .redacted: "redacted"
    case .content(let content): "\(content.title): \(content.body)"
    }
  }

  static func event(_ id: String) -> EventID { EventID(trusted: ByteString(id)) }

  /// Has one room, an event that no sync brings, and a room to which one is invited without a sync having told.
  static func server() -> ScriptedServer {
    let script = ScriptedServer { request in
      if request.target.contains("/context/%24late") {
        let member = Script.member("@carol:test", "Carol")
        return (200, #"{"event":\#(Script.message("late", "$late", by: "@carol:test")),"state":[\#(member)]}"#)
      }
      if request.target.contains("/context/") { return (403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#) }
      guard request.target.contains("/sync?"), request.target.contains("%21new%3Atest") else { return nil }
      let invite = Script.event("m.room.member", #"{"membership":"invite"}"#, by: "@alice:test", stateKey: "@me:test")
      let state = [Script.name("Cake"), Script.member("@alice:test", "Alice"), invite].joined(separator: ",")
      return (200, #"{"next_batch":"x","rooms":{"invite":{"!new:test":{"invite_state":{"events":[\#(state)]}}}}}"#)
    }
    script.push(
      Script.rooms(
        Script.room(
          "!tea:test", [Script.message("hot", "$1")],
          state: [Script.name("Tea"), Script.member("@alice:test", "Alice"), Script.member("@me:test", "Me")])))
    return script
  }

  @Test func `an owner and a guest tell the same of an event, from the store and from the server`() async throws {
    let script = Self.server()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let folder = TemporaryFolder()
    let path = folder.path + "/store"
    let client = try await MatrixClient.logIn(
      to: server.url, user: "me", password: "x", store: try SQLiteStore(path: path))
    let guest = try await StoreGuest(path: path)
    let told = ["$1": "Alice in Tea: hot", "$late": "Carol in Tea: late"]
    for (id, words) in told {
      #expect(Self.describe(try await client.notification(for: Self.event(id), in: Self.tea)) == words)
      #expect(Self.describe(try await guest.notification(for: Self.event(id), in: Self.tea)) == words)
    }
    #expect(script.requests("/context/%241").isEmpty)
    #expect(script.requests("/context/%24late").allSatisfy { $0.headers.contains("Authorization: Bearer T") })
    let new = RoomID(trusted: "!new:test")
    let invitation = "Alice in Cake: invited you to Cake"
    #expect(Self.describe(try await client.notification(for: Self.event("$i"), in: new)) == invitation)
    #expect(Self.describe(try await guest.notification(for: Self.event("$i"), in: new)) == invitation)
    // It is still the sync that brings it.
    #expect(await client.state(of: new) == nil)
    for refused in [0, 1] {
      do {
        _ =
          try await refused == 0
          ? client.notification(for: Self.event("$no"), in: Self.tea) : guest.notification(for: Self.event("$no"), in: Self.tea)
        Issue.record("it was told")
      } catch { guard case .refused(403, .forbidden, _, _) = error else { throw error } }
    }
    await guest.close()
    await client.stop()
  }
}
