import Glibc
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

/// One room that gives back what is sent into it; a sync without news waits for a message.
final class OneRoomServer: Sendable {
  private struct State {
    var events: [String] = []
    var requests: [FixtureServer.Request] = []
  }

  private let state = Mutex(State())
  let room = "!room:test"

  func answer(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    state.withLock { $0.requests.append(request) }
    if request.target.hasSuffix("/login") {
      guard request.body.contains("secret") else {
        return (403, #"{"errcode":"M_FORBIDDEN","error":"Invalid password"}"#)
      }
      return (200, #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    }
    guard request.headers.contains("Authorization: Bearer T") || request.target.contains("/profile/") else {
      return (401, #"{"errcode":"M_MISSING_TOKEN","error":""}"#)
    }
    if request.target.contains("/send/") { return take(request) }
    if request.target.contains("/sync?") { return sync(request.target) }
    return (200, "{}")
  }

  private func take(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    state.withLock { state in
      let id = "$\(state.events.count)"
      let transaction = request.target.split(separator: "/").last.map(String.init) ?? ""
      state.events.append(
        #"{"type":"m.room.message","event_id":"\#(id)","sender":"@me:test","origin_server_ts":1,"content":\#(request.body),"unsigned":{"transaction_id":"\#(transaction)"}}"#
      )
      return (200, #"{"event_id":"\#(id)"}"#)
    }
  }

  private func sync(_ target: String) -> (status: Int, body: String) {
    let since = target.firstRange(of: "since=s").flatMap { Int(target[$0.upperBound...].prefix { $0.isNumber }) }
    if let since {
      // A long poll of one second at most, answered as soon as there is something.
      for _ in 0..<100 where state.withLock({ $0.events.count }) == since { usleep(10_000) }
    }
    return state.withLock { state in
      let next = #"{"next_batch":"s\#(state.events.count)""#
      if let since, since == state.events.count { return (200, next + "}") }
      let events = state.events[(since ?? 0)...].joined(separator: ",")
      let name = #"{"type":"m.room.name","event_id":"$n","sender":"@me:test","state_key":"","content":{"name":"Tea"}}"#
      let stateEvents = since == nil ? name : ""
      return (
        200,
        next
          + #","rooms":{"join":{"\#(room)":{"state":{"events":[\#(stateEvents)]},"timeline":{"events":[\#(events)],"limited":false}}}}}"#
      )
    }
  }
}

@Suite struct MatrixClientTests {
  @Test(.timeLimit(.minutes(1))) func `five lines log in, find a room, send and listen`() async throws {
    let homeserver = OneRoomServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    let room = try #require(await client.room(named: "Tea"))
    let messages = await client.messages(in: room.id)
    try await client.send("Hello", to: room.id)
    try await client.send("World", to: room.id)
    var bodies: [String] = []
    for await message in messages {
      if case .message(let content) = message.content { bodies.append(content.body.string) }
      if bodies.count == 2 { break }
    }
    #expect(bodies == ["Hello", "World"])
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a wrong password throws what the server said`() async throws {
    let server = FixtureServer(answer: OneRoomServer().answer)
    defer { server.stop() }
    do {
      _ = try await MatrixClient.logIn(to: server.url, user: "me", password: "wrong")
      Issue.record("logged in")
    } catch {
      guard case .refused(403, .forbidden, let message, _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(message == "Invalid password")
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a session in a file goes on without a password`() async throws {
    let server = FixtureServer(answer: OneRoomServer().answer)
    defer { server.stop() }
    let path = temporaryPath()
    defer { unlink(path) }
    let first = try await MatrixClient.logIn(
      to: server.url, user: "me", password: "secret", store: try FileStore(path: path))
    await first.stop()
    let second = await MatrixClient(homeserver: server.url, store: try FileStore(path: path))
    #expect(await second.sessionState == .signedIn)
    #expect(await second.room(named: "Tea") != nil)
    await second.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `no server is a network error, and a cancelled request ends`() async throws {
    let request = HTTPRequest(
      method: .get, target: "/", body: nil, contentType: nil, accessToken: nil, timeoutMilliseconds: 10_000)
    let transport = standardTransport()
    guard case .networkError = await transport.carry(Exchange(request, to: "http://127.0.0.1:1")) else {
      Issue.record("an answer from nowhere")
      return
    }
    // The server answers only once the pipe is closed, which is after the end of the request.
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    let server = FixtureServer { [ends] _ in
      arrived.yield()
      var byte: UInt8 = 0
      _ = read(ends[0], &byte, 1)
      return (200, "{}")
    }
    defer { server.stop() }
    let task = Task { await transport.carry(Exchange(request, to: server.url)) }
    for await _ in arrivals { break }
    task.cancel()
    guard case .networkError = await task.value else {
      Issue.record("an answer although it was cancelled")
      return
    }
    close(ends[1])
  }
}

func temporaryPath() -> String { "/tmp/martlet-store-\(UInt64.random(in: 0 ... .max))" }

@Suite struct FileStoreTests {
  static func put(_ key: String, _ value: String) -> StoreOperation {
    .put(key: ByteString(key), value: Array(value.utf8))
  }

  static func texts(_ store: FileStore, _ prefix: String = "") async -> [String] {
    await store.load(prefix: ByteString(prefix)).map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" }
  }

  @Test func `records survive, in key order, deletions too`() async throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let store = try FileStore(path: path)
    #expect(await store.write([Self.put("b", "2"), Self.put("a/1", "1"), Self.put("a/2", "x"), Self.put("c", "3")]))
    #expect(await store.write([.delete(key: "c"), .deleteAll(prefix: "a/"), Self.put("a/3", "4")]))
    let again = try FileStore(path: path)
    #expect(await Self.texts(again) == ["a/3=4", "b=2"])
    #expect(await Self.texts(again, "a/") == ["a/3=4"])
  }

  @Test func `a batch cut short at any byte is not there at all`() async throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let whole = JournalBatch.bytes(of: [Self.put("a", "1")])
    let second = JournalBatch.bytes(of: [Self.put("a", "2"), Self.put("b", "3")])
    for length in 0...second.count {
      let bytes = whole + second[..<length]
      let file = try #require(fopen(path, "w"))
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
      let store = try FileStore(path: path)
      #expect(await Self.texts(store) == (length == second.count ? ["a=2", "b=3"] : ["a=1"]))
      #expect(await store.write([Self.put("c", "4")]))
      #expect(await Self.texts(try FileStore(path: path)).last == "c=4")
    }
  }

  @Test func `a flipped bit is noticed`() {
    let bytes = JournalBatch.bytes(of: [Self.put("key", "value")])
    for i in bytes.indices {
      var broken = bytes
      broken[i] ^= 1
      var position = 0
      #expect(JournalBatch.read(broken, &position) == nil)
      #expect(position == 0)
    }
  }

  @Test func `only the owner may read the file`() throws {
    let path = temporaryPath()
    defer { unlink(path) }
    _ = try FileStore(path: path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }
}
