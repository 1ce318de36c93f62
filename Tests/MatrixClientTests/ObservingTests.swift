import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

@Suite struct ObservingTests {
  private static func signedIn(_ body: (MatrixClient, OneRoomServer) async throws -> Void) async throws {
    let homeserver = OneRoomServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    try await body(client, homeserver)
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a stream that nobody holds any more is told nothing`() async throws {
    try await Self.signedIn { client, _ in
      try await client.until { $0.isEmpty }
      let task = Task {
        for await _ in await client.events {}
      }
      try await client.until { $0.count == 1 }
      task.cancel()
      try await client.until { $0.isEmpty }
      var stream: AsyncStream<Int>? = await client.observe { _, _ in 1 }
      #expect(await client.listeners.count == 1)
      withExtendedLifetime(stream) {}
      stream = nil
      try await client.until { $0.isEmpty }
    }
  }

  @Test(.timeLimit(.minutes(1))) func `streams end with the client, and those asked for later at once`() async throws {
    try await Self.signedIn { client, _ in
      let events = await client.events
      let states = await client.sessionStates()
      await client.stop()
      for await _ in events {}
      for await _ in states {}
      for await _ in await client.connectionStates() {}
      for await _ in await client.changes() {}
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a message is followed to its event, also by who asks late`() async throws {
    try await Self.signedIn { client, _ in
      let room = try #require(await client.room(named: "Tea"))
      let sending = try await room.send("Hello")
      let event = try await sending.sent()
      #expect(event.string == "$0")
      #expect(try await sending.sent() == event)
      var last: SendProgress?
      for await step in await sending.progress() { last = step }
      guard case .sent(event)? = last else {
        Issue.record("\(String(describing: last))")
        return
      }
      do {
        try await room.send("")
        Issue.record("nothing was sent")
      } catch ClientError.invalidContent {}
    }
  }

  @Test(.timeLimit(.minutes(1))) func `the handle of a timeline begins with what is there and ends with the client`()
    async throws
  {
    try await Self.signedIn { client, _ in
      let room = try #require(await client.room(named: "Tea"))
      try await room.send("One").sent()
      var changes = try await room.timeline().changes().makeAsyncIterator()
      guard case .reset? = await changes.next()?.first else {
        Issue.record("no beginning")
        return
      }
      while await room.timeline().items.count != 1, await changes.next() != nil {}
      do {
        try await client.room(RoomID(trusted: "!none:test")).timeline().open()
        Issue.record("it is open")
      } catch ClientError.unknownRoom {}
    }
  }

  @Test(.timeLimit(.minutes(1))) func `messages of a room that is not there or no more do not keep one waiting`() async throws {
    try await Self.signedIn { client, _ in
      _ = await client.messages(in: RoomID(trusted: "!none:test"))
      let room = try #require(await client.room(named: "Tea"))
      await client.stop()
      for await _ in await room.messages() {}
    }
  }

  @Test(.timeLimit(.minutes(1))) func `without a connection a room is not made`() async throws {
    let server = FixtureServer(answer: OneRoomServer().answer)
    defer { server.stop() }
    let cable = Cable()
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret", transport: cable)
    cable.isPulled.store(true, ordering: .relaxed)
    do {
      _ = try await client.createRoom()
      Issue.record("it was made")
    } catch ClientError.network {}
    await client.stop()
  }
}

/// A network that can be gone.
private final class Cable: Transport {
  let isPulled = Atomic(false)
  private let transport = standardTransport()

  func carry(_ exchange: Exchange) async -> Response {
    isPulled.load(ordering: .relaxed) ? .networkError : await transport.carry(exchange)
  }
}

extension MatrixClient {
  /// Lets others run until the listeners are so, or the test's time is over.
  fileprivate func until(_ isSo: ([Int: Listener]) -> Bool) async throws {
    while !isSo(listeners) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
