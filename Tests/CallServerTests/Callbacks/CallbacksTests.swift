import JSON
import MatrixModel
import Outbound
import OutboundTesting
import Synchronization
import Telemetry
import Testing

@testable import CallServer
@testable import ServerCore

@Suite struct CallbacksTests {
  private static let project = ProjectID(trusted: "4000")

  /// An application's server that answers with these statuses in turn, the last one for ever, and notes head and body of each request.
  private static func application(_ statuses: [Int]) -> LoopbackServer {
    let left = Mutex(statuses)
    return LoopbackServer { server, connection in
      while true {
        let head = connection.read(until: "\r\n\r\n")
        guard !head.isEmpty else { return }
        let parts = head.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let length = parts[0].split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        let count = length.flatMap { Int($0.dropFirst(16)) } ?? 0
        var body = Array(parts[1].utf8)
        while body.count < count { body += connection.read() }
        server.note(String(parts[0]) + "\n" + String(decoding: body, as: UTF8.self))
        let status = left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        connection.write("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n")
      }
    }
  }

  private static func with(
    _ statuses: [Int], _ body: (Callbacks, LoopbackServer) async throws -> Void
  ) async throws {
    let application = application(statuses)
    let http = HTTPClient(OutboundConfiguration(), log: Log("test"))
    let callbacks = Callbacks(
      http, clock: WallClock { 1_700_000_000_123 }, retryDelay: RetryDelay(firstMilliseconds: 2, longestMilliseconds: 4)
    ) { $0 == project ? Callbacks.Target(url: application.url("/hook"), secret: "a secret") : nil }
    try await body(callbacks, application)
    await callbacks.shutdown()
    await http.shutdown()
    application.close()
  }

  private static func until(_ condition: () -> Bool) async throws {
    for _ in 0..<1_000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
    #expect(condition())
  }

  // Proves M30
  @Test func `what happens is told in order, signed, and again until it is taken`() async throws {
    try await Self.with([500, 503, 200]) { callbacks, application in
      #expect(callbacks.wants(Self.project) && !callbacks.wants(ProjectID(trusted: "4001")))
      for number in 1...3 { callbacks.post(Array(#"{"number":\#(number)}"#.utf8), for: Self.project) }
      try await Self.until { application.notes.count == 5 }
      let bodies = application.notes.map { String($0.split(separator: "\n").last ?? "") }
      #expect(bodies == [1, 1, 1, 2, 3].map { #"{"number":\#($0)}"# })
      let digest = KeyedHash.sha256.digest(of: Array(#"1700000000.{"number":2}"#.utf8), key: Array("a secret".utf8))
      #expect(application.notes[3].contains("Martlet-Signature: t=1700000000,v1=" + KeyedHash.hexadecimal(digest)))
      #expect(application.notes[3].hasPrefix("POST /hook HTTP/1.1"))
    }
  }

  @Test func `what is never taken is given up, and what comes after it is told all the same`() async throws {
    let refusals = [Int](repeating: 500, count: CallLimits.callbackAttempts)
    try await Self.with(refusals + [204]) { callbacks, application in
      callbacks.post(Array("lost".utf8), for: Self.project)
      callbacks.post(Array("told".utf8), for: Self.project)
      try await Self.until { application.notes.count == CallLimits.callbackAttempts + 1 }
      #expect(application.notes.map { $0.hasSuffix("lost") } == refusals.map { _ in true } + [false])
    }
  }

  @Test func `so many wait, no more`() async throws {
    try await Self.with([500]) { callbacks, application in
      for number in 0...CallLimits.callbacksWaiting + 10 { callbacks.post(Array("\(number)".utf8), for: Self.project) }
      #expect(
        (CallLimits.callbacksWaiting...CallLimits.callbacksWaiting + 1).contains(callbacks.waiting(for: Self.project) + 1))
    }
  }

  @Test func `nobody is told of a callback that was taken away, and what is no address is refused`() async throws {
    let fixture = try ProjectFixture()
    let (id, secret, _) = try await fixture.project()
    #expect(fixture.projects.callback(of: id) == nil)
    let longest = "https://a.example/" + String(repeating: "a", count: CallLimits.callbackURLBytes - 18)
    for url in ["http://127.0.0.1:1/hook", longest] {
      _ = try await fixture.projects.setCallback(url, of: id)
      #expect(fixture.projects.callback(of: id) == Callbacks.Target(url: url, secret: secret))
    }
    for url in ["", "ftp://a.example", "https://", "https://a.example/ü", "https://a.example/a b", longest + "a"] {
      await #expect(throws: MatrixError.self) { try await fixture.projects.setCallback(url, of: id) }
    }
    await #expect(throws: MatrixError.self) { try await fixture.projects.setCallback(longest, of: ProjectID(trusted: "4711")) }
    fixture.database.close()
    let again = try ProjectFixture(in: fixture.folder)
    #expect(again.projects.callback(of: id)?.url == longest)
    _ = try await again.projects.setCallback(nil, of: id)
    #expect(again.projects.callback(of: id) == nil)
  }
}
