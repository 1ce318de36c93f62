import Glibc
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

/// A homeserver whose access tokens expire when the test says so.
final class RefreshingServer: Sendable {
  struct State {
    var tokens = 1
    var refreshes = 0
    var refused = 0
    var waits = 0
    var isRevoked = false
    var accountData: [String: String] = [:]
    var writes = 0
  }

  let state = Mutex(State())
  /// Requests of an expired token are answered only once so many are there.
  let gathering: Int
  private let gathered = Gate()

  init(gathering: Int = 1) { self.gathering = gathering }

  func expire() { state.withLock { $0.tokens += 1 } }

  func answer(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    let current = state.withLock { $0.tokens }
    if request.target.hasSuffix("/login") || request.target.hasSuffix("/register") { return (200, login(current)) }
    if request.target.hasSuffix("/refresh") { return refresh(request.body) }
    guard request.headers.contains("Authorization: Bearer T\(current)") else { return refuse() }
    if request.target.contains("/sync?") {
      // The long poll of a quiet server.
      if request.target.contains("since=") { usleep(200_000) }
      return (200, #"{"next_batch":"s1"}"#)
    }
    if request.target.contains("/account_data/") { return accountData(request) }
    if request.target.contains("/devices/") {
      let id = request.target.split(separator: "/").last ?? ""
      return (200, #"{"device_id":"\#(id)"}"#)
    }
    return (200, "{}")
  }

  private func login(_ token: Int) -> String {
    #"{"user_id":"@me:test","device_id":"D","access_token":"T\#(token)","refresh_token":"R\#(token)"}"#
  }

  private func refresh(_ body: String) -> (status: Int, body: String) {
    state.withLock { state in
      state.refreshes += 1
      if state.isRevoked { return (403, #"{"errcode":"M_FORBIDDEN"}"#) }
      return (200, #"{"access_token":"T\#(state.tokens)","refresh_token":"R\#(state.tokens)"}"#)
    }
  }

  private func refuse() -> (status: Int, body: String) {
    let count = state.withLock { state in
      state.refused += 1
      return state.refused
    }
    gathered.wait(until: count >= gathering)
    return (401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#)
  }

  private func accountData(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    state.withLock { state in
      if request.method == "GET" {
        return state.accountData[request.target].map { (200, $0) } ?? (404, #"{"errcode":"M_NOT_FOUND"}"#)
      }
      state.accountData[request.target] = request.body
      state.writes += 1
      return (200, "{}")
    }
  }
}

/// Opens for all once somebody has the key.
final class Gate: Sendable {
  private let isOpen = Mutex(false)

  func wait(until hasKey: Bool) {
    if hasKey { isOpen.withLock { $0 = true } }
    while !isOpen.withLock({ $0 }) { usleep(1_000) }
  }
}

@Suite struct SessionTests {
  @Test(.timeLimit(.minutes(1))) func `many requests refused at once cause one refresh`() async throws {
    let homeserver = RefreshingServer(gathering: 8)
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    homeserver.expire()
    let found = try await withThrowingTaskGroup(of: String.self) { group in
      for i in 0..<8 {
        group.addTask { try await client.device(DeviceID(trusted: ByteString("X\(i)"))).id.string }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(found == Set((0..<8).map { "X\($0)" }))
    #expect(homeserver.state.withLock { $0.refreshes } == 1)
    #expect(await client.session?.refreshToken == "R2")
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a refused refresh ends softly, and the same device goes on`() async throws {
    let homeserver = RefreshingServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    homeserver.state.withLock { $0.isRevoked = true }
    homeserver.expire()
    await #expect(throws: ClientError.self) { try await client.devices() }
    #expect(await client.sessionState == .softLoggedOut)
    homeserver.state.withLock { $0.isRevoked = false }
    try await client.logInAgain(password: "secret")
    #expect(await client.sessionState == .signedIn)
    #expect(try await client.device(DeviceID(trusted: "D")).id.string == "D")
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a cancelled task ends its query, and one that begins cancelled as well`() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    let homeserver = RefreshingServer()
    let mayAnswer = Mutex(false)
    let server = FixtureServer { request in
      if request.target.hasSuffix("/devices") {
        arrived.yield()
        while !mayAnswer.withLock({ $0 }) { usleep(5_000) }
      }
      return homeserver.answer(request)
    }
    defer {
      mayAnswer.withLock { $0 = true }
      server.stop()
    }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    let task = Task { try await client.devices() }
    for await _ in arrivals { break }
    task.cancel()
    await #expect { try await task.value } throws: { error in
      if case .cancelled = error as? ClientError { true } else { false }
    }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.devices()
    }
    await #expect { try await late.value } throws: { error in
      if case .cancelled = error as? ClientError { true } else { false }
    }
    let command = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.perform(.rooms(.join("#tea:test")))
    }
    await #expect { try await command.value } throws: { error in
      if case .cancelled = error as? ClientError { true } else { false }
    }
    await client.stop()
    // After the end nothing hangs.
    await #expect(throws: ClientError.self) { try await client.devices() }
  }

  @Test(.timeLimit(.minutes(1))) func `a session goes on from values, and from its store without an address`() async throws {
    let homeserver = RefreshingServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let session = Session(
      userID: UserID(trusted: "@me:test"), deviceID: DeviceID(trusted: "D"), accessToken: "T1", refreshToken: "R1",
      homeserver: ServerURL(server.url))
    let store = MemoryStore()
    let first = try await MatrixClient.restore(session, store: store)
    #expect(try await first.device(DeviceID(trusted: "D")).id.string == "D")
    await first.stop()
    let second = try await MatrixClient(store: store)
    #expect(await second.sessionState == .signedIn)
    #expect(try await second.device(DeviceID(trusted: "E")).id.string == "E")
    await second.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `a registration asks a person for what it cannot do`() async throws {
    let tries = Mutex<[String]>([])
    let homeserver = RefreshingServer()
    let server = FixtureServer { request in
      guard request.target.hasSuffix("/register") else { return homeserver.answer(request) }
      tries.withLock { $0.append(request.body) }
      if request.body.contains("m.login.terms") { return homeserver.answer(request) }
      return (401, #"{"session":"S","flows":[{"stages":["m.login.terms"]}]}"#)
    }
    defer { server.stop() }
    let client = try await MatrixClient.register(
      at: server.url, username: "me", password: "secret",
      authenticator: Authenticator { $0.nextStages.contains("m.login.terms") ? .terms : nil })
    #expect(await client.sessionState == .signedIn)
    #expect(tries.withLock { $0.count } == 2)
    await client.stop()
    await #expect { try await MatrixClient.register(at: server.url, username: "me", password: "secret") } throws: {
      if case .authenticationNeeded = $0 as? ClientError { true } else { false }
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a password goes through the stage of the password, a wrong one gives up`() async throws {
    let homeserver = RefreshingServer()
    let flows = #""session":"S","flows":[{"stages":["m.login.password"]}]"#
    let server = FixtureServer { request in
      guard request.method == "DELETE" else { return homeserver.answer(request) }
      if request.body.contains(#""password":"secret""#) { return (200, "{}") }
      let wrong = request.body.contains("password") ? #""errcode":"M_FORBIDDEN","error":"Wrong","# : ""
      return (401, "{\(wrong)\(flows)}")
    }
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    let device = DeviceID(trusted: "X")
    try await client.deleteDevice(device, by: .password("secret", user: "me"))
    await #expect { try await client.deleteDevice(device, by: .password("wrong", user: "me")) } throws: { error in
      guard case .authenticationNeeded(let needed)? = error as? ClientError else { return false }
      return needed.refusal?.code == .forbidden
    }
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1)), arguments: [(100_000, true), (99_999, false)])
  func `a file is sent where the server takes so much, and otherwise not at all`(limit: Int, isSent: Bool) async throws {
    let uploads = Mutex(0)
    let homeserver = RefreshingServer()
    let server = FixtureServer { request in
      if request.target.hasSuffix("/media/config") { return (200, #"{"m.upload.size":\#(limit)}"#) }
      guard request.target.contains("/media/v3/upload") else { return homeserver.answer(request) }
      uploads.withLock { $0 += 1 }
      return (200, #"{"content_uri":"mxc://test/\#(request.bodyBytes)"}"#)
    }
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    let path = temporaryFile(bytes: 100_000)
    defer { unlink(path) }
    let last = Mutex<Int64>(0)
    do {
      let uri = try await client.upload(path: path, mimeType: "image/png") { sent, _ in last.withLock { $0 = sent } }
      #expect(isSent)
      #expect(uri.string == "mxc://test/100000")
      #expect(last.withLock { $0 } == 100_000)
    } catch {
      guard case .tooLarge(99_999) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(!isSent)
    }
    #expect(uploads.withLock { $0 } == (isSent ? 1 : 0))
    await #expect(throws: ClientError.self) { try await client.upload(path: "/nowhere", mimeType: "image/png") }
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `client information is written only where it changed, and taken back`() async throws {
    let homeserver = RefreshingServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "secret")
    let written = { homeserver.state.withLock { ($0.writes, $0.accountData.values.first ?? "") } }
    try await client.setClientInformation(nil)
    #expect(written().0 == 0)
    try await client.setClientInformation(ClientInformation(name: "Tea", version: "1"))
    try await client.setClientInformation(ClientInformation(name: "Tea", version: "1"))
    #expect(written() == (1, #"{"name":"Tea","version":"1"}"#))
    try await client.setClientInformation(ClientInformation(name: "Tea", version: "2"))
    #expect(written().0 == 2)
    try await client.setClientInformation(nil)
    #expect(written() == (3, "{}"))
    await client.stop()
  }
}
