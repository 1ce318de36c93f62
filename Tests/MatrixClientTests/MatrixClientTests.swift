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
    var transactions: [String: String] = [:]
    var requests: [FixtureServer.Request] = []
  }

  private let state = Mutex(State())
  let room = "!room:test"

  /// Of the messages it has taken, in order.
  var bodies: [String] {
    state.withLock { state in
      state.events.map { event in
        (try? JSON.parse(Array(event.utf8)))?["content"]?["body"]?.string ?? ""
      }
    }
  }

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
    // A client that starts asks before it sends. Any other answer would say that the room is encrypted.
    if request.target.hasSuffix("/state/m.room.encryption/") { return (404, #"{"errcode":"M_NOT_FOUND","error":""}"#) }
    return (200, "{}")
  }

  private func take(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    state.withLock { state in
      let transaction = request.target.split(separator: "/").last.map(String.init) ?? ""
      // As the spec asks: the same transaction is the same event.
      if let known = state.transactions[transaction] { return (200, #"{"event_id":"\#(known)"}"#) }
      let id = "$\(state.events.count)"
      state.transactions[transaction] = id
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
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/store")
    do {
      _ = try await MatrixClient.logIn(to: server.url, user: "me", password: "wrong", store: store)
      Issue.record("logged in")
    } catch {
      guard case .refused(403, .forbidden, let message, _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(message == "Invalid password")
    }
    // The store is free for another try.
    try await MatrixClient.logIn(to: server.url, user: "me", password: "secret", store: store).stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a session in a file goes on without a password`() async throws {
    let server = FixtureServer(answer: OneRoomServer().answer)
    defer { server.stop() }
    let folder = TemporaryFolder()
    let path = folder.path + "/store"
    let first = try await MatrixClient.logIn(
      to: server.url, user: "me", password: "secret", store: try SQLiteStore(path: path))
    await first.stop()
    let second = try await MatrixClient(homeserver: server.url, store: try SQLiteStore(path: path))
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
