import ClientCore
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

/// What people run into who use the client for the first time.
@Suite struct NewcomerTests {
  private static func script(
    _ other: @escaping @Sendable (FixtureServer.Request) -> (status: Int, body: String)? = { _ in nil }
  )
    -> (script: ScriptedServer, server: FixtureServer)
  {
    let script = ScriptedServer(other)
    return (script, FixtureServer(answer: script.answer))
  }

  private static func message(_ name: String) -> String { Script.message(name, "$\(name)") }

  // MARK: Messages

  @Test(.timeLimit(.minutes(1))) func `older messages that are paged back to do not come in`() async throws {
    let pages = ["p1": (["b", "a"], "p2"), "p2": (["z"], nil)] as [String: ([String], String?)]
    let (script, server) = Self.script { request in
      guard let page = pages.first(where: { request.target.contains("from=\($0.key)") })?.value else { return nil }
      let events = page.0.map { Self.message($0) }.joined(separator: ",")
      return (200, #"{"start":"x","chunk":[\#(events)]\#(page.1.map { #","end":"\#($0)""# } ?? "")}"#)
    }
    defer { server.stop() }
    script.push(Script.rooms(Script.limitedRoom("!tea:test", [Self.message("c")], from: "p1")))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    let room = client.room(ModelTests.tea)
    let messages = await room.messages()
    while try await room.timeline().paginateBack() {}
    #expect(await room.timeline().items.compactMap { $0.text } == ["z", "a", "b", "c"])
    // An edit of an old message is not a new message either.
    let edit =
      #"{"msgtype":"m.text","body":"* A","m.new_content":{"msgtype":"m.text","body":"A"},"m.relates_to":{"rel_type":"m.replace","event_id":"$a"}}"#
    script.push(Script.rooms(Script.room("!tea:test", [Script.event("m.room.message", edit), Self.message("d")])))
    var heard: [String] = []
    for await message in messages {
      heard.append(message.text ?? "")
      break
    }
    #expect(heard == ["d"])
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a page that is under way is waited for`() async throws {
    let (script, server) = Self.script { request in
      guard request.target.contains("from=p1") else { return nil }
      return (200, #"{"start":"x","chunk":[\#(Self.message("b"))]}"#)
    }
    defer { server.stop() }
    script.push(Script.rooms(Script.limitedRoom("!tea:test", [Self.message("c")], from: "p1")))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    let timeline = client.room(ModelTests.tea).timeline()
    try await timeline.open()
    async let first = timeline.paginateBack()
    async let second = timeline.paginateBack()
    let more = try await [first, second]
    #expect(more == [false, false])
    #expect(script.requests("/messages?").count == 1)
    await client.stop()
  }

  // MARK: Signing in

  @Test(.timeLimit(.minutes(1))) func `a stored session goes on without its server, and ends in nobody's wait`() async throws {
    let folder = TemporaryFolder()
    let (script, server) = Self.script()
    script.push(Script.rooms(Script.room("!tea:test", state: [Script.name("Tea")])))
    let store = { try SQLiteStore(path: folder.path + "/store") }
    let first = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: try store())
    await first.stop()
    server.stop()
    for address in [server.url, "no-server.invalid", "@me:test"] {
      let next = try await MatrixClient.logIn(to: address, user: "@me:test", password: "x", store: try store())
      #expect(await next.room(named: "Tea") != nil)
      await next.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func `a stored session that the server has ended gives way to the login`(
    isSoft: Bool
  ) async throws {
    let folder = TemporaryFolder()
    let logins = Mutex(0)
    let (script, server) = Self.script { request in
      if request.target.hasSuffix("/login") {
        let token = logins.withLock { count in
          count += 1
          return "T\(count)"
        }
        return (200, #"{"user_id":"@me:test","device_id":"D","access_token":"\#(token)"}"#)
      }
      // Only the newest token is known.
      if request.headers.contains("Authorization: Bearer T\(logins.withLock { $0 })") { return nil }
      return (401, #"{"errcode":"M_UNKNOWN_TOKEN","error":"","soft_logout":\#(isSoft)}"#)
    }
    defer { server.stop() }
    script.push(Script.rooms(Script.room("!tea:test", state: [Script.name("Tea")])))
    let store = { try SQLiteStore(path: folder.path + "/store") }
    let first = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: try store())
    await first.stop()
    logins.withLock { $0 += 1 }
    let next = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: try store())
    #expect(await next.session?.accessToken == "T3")
    #expect(await next.room(named: "Tea") != nil)
    await next.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a stored session is neither somebody else's nor told to another server`() async throws {
    let folder = TemporaryFolder()
    let (_, server) = Self.script()
    let (strange, stranger) = Self.script()
    defer {
      server.stop()
      stranger.stop()
    }
    let store = { try SQLiteStore(path: folder.path + "/store") }
    let first = try await MatrixClient.logIn(to: server.url, user: "ME", password: "x", store: try store())
    #expect(await first.session?.homeserver?.string == server.url)
    await first.stop()
    for (address, user) in [(server.url, "you"), (stranger.url, "me"), (server.url, "@me:elsewhere")] {
      await #expect {
        _ = try await MatrixClient.logIn(to: address, user: user, password: "x", store: try store())
      } throws: {
        if case ClientError.alreadySignedIn(let user) = $0 { user.string == "@me:test" } else { false }
      }
    }
    #expect(strange.requests("").isEmpty)
  }

  @Test(.timeLimit(.minutes(1))) func `a login that is cancelled while it waits for its sync ends`() async throws {
    let (_, server) = Self.script { request in request.target.contains("/sync?") ? (500, "{}") : nil }
    defer { server.stop() }
    let task = Task { try await MatrixClient.logIn(to: server.url, user: "me", password: "x") }
    task.cancel()
    await #expect(throws: ClientError.self) { _ = try await task.value }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [nil, "", "not a server", "http://"])
  func `an invalid address is reported as invalid`(
    address: String?
  ) async throws {
    let client = try await MatrixClient(homeserver: address)
    let isNoAddress: (any Error) -> Bool = { if case ClientError.noHomeserver(.invalidAddress) = $0 { true } else { false } }
    await #expect(performing: { try await client.logIn(user: "me", password: "x") }, throws: isNoAddress)
    await #expect(performing: { _ = try await client.loginFlows() }, throws: isNoAddress)
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `who is signed in cannot sign in again`() async throws {
    let (_, server) = Self.script()
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    await #expect { try await client.logIn(user: "me", password: "x") } throws: {
      if case ClientError.alreadySignedIn = $0 { true } else { false }
    }
    await client.stop()
  }

  // MARK: Stores

  /// A file that another program locks, or that a phone protects while it is locked.
  private actor LockedStore: Store {
    private let kept = MemoryStore()
    private(set) var writes = 0
    private var isLocked = false

    func lock(_ isLocked: Bool) { self.isLocked = isLocked }

    func begin() {}

    func load(_ range: StoreRange) async throws(StoreError) -> [StoreRecord] {
      if isLocked { throw .system(path: "store", reason: "locked") }
      return await kept.load(range)
    }

    func write(_ operations: [StoreOperation]) async throws(StoreError) {
      writes += 1
      await kept.write(operations)
    }

    func hasForeignWrites() -> Bool { false }
    func close() {}
  }

  @Test(.timeLimit(.minutes(1))) func `a store that cannot be read at the start is not written over`() async throws {
    let (script, server) = Self.script()
    defer { server.stop() }
    script.push(Script.rooms(Script.room("!tea:test", state: [Script.name("Tea")])))
    let store = LockedStore()
    let first = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: store)
    await first.stop()
    let writes = await store.writes
    await store.lock(true)
    await #expect { _ = try await MatrixClient(homeserver: server.url, store: store) } throws: {
      if case StoreError.system = $0 { true } else { false }
    }
    await #expect {
      _ = try await MatrixClient.logIn(to: server.url, user: "me", password: "x", store: store)
    } throws: {
      if case ClientError.storeUnavailable(let reason) = $0 { reason.string.contains("locked") } else { false }
    }
    #expect(await store.writes == writes)
    await store.lock(false)
    let third = try await MatrixClient(homeserver: server.url, store: store)
    #expect(await third.room(named: "Tea") != nil)
    await third.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a store has one client at a time`() async throws {
    let folder = TemporaryFolder()
    let stores: [any Store] = [MemoryStore(), try SQLiteStore(path: folder.path + "/store")]
    for store in stores {
      let first = try await MatrixClient(homeserver: "http://127.0.0.1:1", store: store)
      await #expect { _ = try await MatrixClient(homeserver: "http://127.0.0.1:1", store: store) } throws: {
        if case StoreError.inUse = $0 { true } else { false }
      }
      // The first goes on.
      #expect(await first.sessionState == .signedOut)
      await first.stop()
    }
    for store in stores { try await MatrixClient(store: store).stop() }
  }

  // MARK: Words

  @Test func `every error says what happened, none how it is written in Swift`() {
    let errors: [ClientError] = [
      .network, .refused(status: 403, code: "M_FORBIDDEN", message: "No.", retryAfterMilliseconds: 2_500),
      .tooLarge(limitBytes: 5),
      .noHomeserver(.invalidAddress), .noHomeserver(.ignore), .noHomeserver(.failPrompt(.status(500))),
      .noHomeserver(.failError(.noAnswer)), .untrustedServer, .cancelled, .badAnswer, .invalidUserID, .invalidRoomAddress,
      .ownUserID,
      .unknownRoom, .notSignedIn, .alreadySignedIn(UserID(trusted: "@me:test")), .unsupportedFlow, .registrationTokenNeeded,
      .outboxIsFull, .attachmentIsGone, .damagedAttachment, .targetFailed, .unknownEvent, .notAllowed, .encryptedRoom,
      .invalidContent,
      .unconfirmedIdentity(UserID(trusted: "@me:test"))
    ]
    for error in errors {
      #expect(error.english.hasSuffix(".") && error.english.count > 15 && !error.english.contains("ServerQueries"), "\(error)")
    }
    #expect(Set(errors.map { $0.english }).count == errors.count)
    #expect(errors[1].english == "The server refuses it: No. (M_FORBIDDEN, 403) Try again in 2 s.")
  }
}
