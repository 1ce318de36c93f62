import Addresses
import FilesTesting
import Glibc
import OutboundTesting
import Telemetry
import Testing

@testable import Outbound

@Suite struct HTTPClientTests {
  /// A client that may go to this machine, or not.
  private func withClient(
    _ change: (inout OutboundConfiguration) -> Void = { _ in }, _ body: (HTTPClient) async throws -> Void
  ) async throws {
    var configuration = OutboundConfiguration()
    change(&configuration)
    let client = HTTPClient(configuration, log: Log("test"))
    do {
      try await body(client)
    } catch {
      await client.shutdown()
      throw error
    }
    await client.shutdown()
  }

  private func request(
    _ method: String, _ url: String, timeout: Duration = .seconds(20), limit: Int = 1_000, redirects: Int = 0,
    _ destinations: DestinationPolicy = .any
  ) -> OutgoingRequest {
    OutgoingRequest(
      method, url: url, timeout: timeout, responseBytesLimit: limit, redirectLimit: redirects, destinations: destinations)
  }

  /// Answers each request of each connection with what `answer` makes of its head.
  private func server(
    at address: UInt32 = 0x7F00_0001, _ answer: @escaping @Sendable (String) -> String
  ) -> LoopbackServer {
    LoopbackServer(at: address) { server, connection in
      while true {
        let head = connection.read(until: "\r\n\r\n")
        if head.isEmpty { return }
        server.note(head)
        connection.write(answer(head))
      }
    }
  }

  /// Answers the first request of each connection with `answer` and then waits for the client to hang up; `heads` has an element
  /// for each request.
  private func silentServer(after answer: [UInt8] = []) -> (server: LoopbackServer, heads: AsyncStream<Void>) {
    let (heads, continuation) = AsyncStream.makeStream(of: Void.self)
    let server = LoopbackServer { _, connection in
      _ = connection.read(until: "\r\n\r\n")
      continuation.yield()
      connection.write(answer)
      connection.waitForEnd()
    }
    return (server, heads)
  }

  private static func ok(_ body: String, _ headers: String = "") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
  }

  @Test("a request is sent as it was made and its answer comes back whole")
  func exchange() async throws {
    let server = server { _ in Self.ok("hello", "X-One: 1\r\nX-Two:  a: b \r\n") }
    defer { server.close() }
    try await withClient { client in
      var request = request("PUT", server.url("/a?b=c"))
      request.headers = [("Content-Type", "text/plain"), ("X-Empty", "")]
      request.body = Array("body".utf8)
      let answer = try await client.send(request)
      #expect(answer.status == 200)
      #expect(answer.body == Array("hello".utf8))
      #expect(answer.header("x-one") == "1")
      #expect(answer.header("x-two") == "a: b")
      #expect(answer.url == server.url("/a?b=c"))
      #expect(!answer.isTruncated)
    }
    let head = try #require(server.notes.first)
    #expect(head.hasPrefix("PUT /a?b=c HTTP/1.1\r\n"))
    for line in ["User-Agent: Martlet", "Content-Type: text/plain", "X-Empty:", "Content-Length: 4"] {
      #expect(head.contains("\r\n\(line)\r\n"), "\(line)")
    }
    for name in ["Expect", "Cookie", "Authorization"] { #expect(!head.contains("\r\n\(name):")) }
  }

  @Test("a part of a file is sent as the body, again from its beginning on another connection, and no file that ends early")
  func fileBody() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    let file = open(path, O_CREAT | O_WRONLY, 0o600)
    #expect(write(file, Array("0123456789".utf8), 10) == 10)
    close(file)
    let server = LoopbackServer { server, connection in
      server.note(connection.read(until: "3456"))
      connection.write(Self.ok("taken"))
    }
    defer { server.close() }
    try await withClient { client in
      var request = request("PUT", server.url())
      request.file = OutgoingFile(path: path, range: 3..<7)
      // The first connection is closed behind its answer, so that the second request may meet a dead one.
      for _ in 0..<2 {
        let answer = try await client.send(request)
        #expect(answer.body == Array("taken".utf8))
      }
      request.file = OutgoingFile(path: path, range: 3..<70)
      await #expect(throws: OutboundError.brokenAnswer) { try await client.send(request) }
      request.file = OutgoingFile(path: path + "-not-there", range: 0..<1)
      await #expect(throws: OutboundError.invalidRequest) { try await client.send(request) }
    }
    for note in server.notes.prefix(2) {
      #expect(note.hasPrefix("PUT / HTTP/1.1\r\n") && note.hasSuffix("\r\n\r\n3456") && note.contains("Content-Length: 4\r\n"))
    }
  }

  @Test(
    "an address of this machine is not reached for a user, by whatever name",
    arguments: ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1"])
  func forbidden(_ host: String) async throws {
    let server = server { _ in Self.ok("secret") }
    defer { server.close() }
    try await withClient { client in
      await #expect(throws: OutboundError.forbiddenAddress) {
        try await client.send(request("GET", "http://\(host):\(server.port)/", .publicAddresses))
      }
    }
    #expect(server.notes.isEmpty)
  }

  @Test("a redirect to an address that is not public ends there, even where a connection to it is open for others")
  func forbiddenRedirect() async throws {
    let inside = server { _ in Self.ok("secret") }
    let outside = server(at: 0x7F00_0002) { _ in
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
    }
    defer {
      inside.close()
      outside.close()
    }
    // 127.0.0.2 is the same machine under an address that this client takes for public.
    let allowed = try #require(IPNetwork("127.0.0.2"))
    try await withClient {
      $0.allowedNetworks = [allowed]
    } _: { client in
      let direct = try await client.send(request("GET", inside.url()))
      #expect(direct.status == 200)
      let elsewhere = "http://127.0.0.2:\(outside.port)/"
      let first = try await client.send(request("GET", elsewhere, .publicAddresses))
      #expect(first.status == 302)
      await #expect(throws: OutboundError.forbiddenAddress) {
        try await client.send(request("GET", elsewhere, redirects: 3, .publicAddresses))
      }
    }
    #expect(inside.notes.count == 1)
  }

  @Test("as many redirects are followed as the request says, and not one more")
  func redirects() async throws {
    let server = server { head in
      let count = Int(head.dropFirst(5).prefix { $0.isNumber }) ?? 0
      return count == 0
        ? Self.ok("end") : "HTTP/1.1 302 Found\r\nLocation: /\(count - 1)\r\nContent-Length: 0\r\nX-Old: 1\r\n\r\n"
    }
    defer { server.close() }
    try await withClient { client in
      let answer = try await client.send(request("GET", server.url("/3"), redirects: 3))
      #expect(answer.body == Array("end".utf8))
      #expect(answer.url == server.url("/0"))
      #expect(answer.header("x-old") == nil)
      await #expect(throws: OutboundError.tooManyRedirects) {
        try await client.send(request("GET", server.url("/4"), redirects: 3))
      }
    }
  }

  @Test("a body is kept up to its limit and no further")
  func limit() async throws {
    let server = server { _ in Self.ok(String(repeating: "x", count: 100)) }
    defer { server.close() }
    try await withClient { client in
      let whole = try await client.send(request("GET", server.url(), limit: 100))
      #expect(whole.body.count == 100 && !whole.isTruncated)
      let part = try await client.send(request("GET", server.url(), limit: 99))
      #expect(part.body.count == 99 && part.isTruncated)
    }
  }

  @Test("a small body that unpacks into a large one is kept up to the limit of the large one")
  func decompression() async throws {
    let packed = Gzip.zeros
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
    let (server, _) = silentServer(after: Array(head.utf8) + packed)
    defer { server.close() }
    try await withClient { client in
      let answer = try await client.send(request("GET", server.url(), limit: 10_000))
      #expect(answer.isTruncated && answer.body == [UInt8](repeating: 0, count: 10_000))
    }
  }

  @Test("headers without end are a broken answer")
  func headers() async throws {
    let server = LoopbackServer { _, connection in
      _ = connection.read(until: "\r\n\r\n")
      connection.write("HTTP/1.1 200 OK\r\n")
      while connection.write("X-Header: " + String(repeating: "x", count: 8_000) + "\r\n") {}
    }
    defer { server.close() }
    try await withClient { client in
      await #expect(throws: OutboundError.brokenAnswer) { try await client.send(request("GET", server.url())) }
    }
  }

  @Test("a connection that ends amid the headers is a broken answer, not one without a body")
  func cutHeaders() async throws {
    for cut in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"] {
      let server = LoopbackServer { _, connection in
        _ = connection.read(until: "\r\n\r\n")
        connection.write(cut)
      }
      defer { server.close() }
      try await withClient { client in
        await #expect(throws: OutboundError.brokenAnswer) { try await client.send(request("GET", server.url())) }
      }
    }
  }

  @Test("an answer that drips ends at the deadline")
  func deadline() async throws {
    let (server, _) = silentServer(after: Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx".utf8))
    defer { server.close() }
    try await withClient { client in
      await #expect(throws: OutboundError.timedOut) {
        try await client.send(request("GET", server.url(), timeout: .milliseconds(200)))
      }
    }
  }

  @Test("a cancelled task ends its request")
  func cancellation() async throws {
    let (server, heads) = silentServer()
    defer { server.close() }
    try await withClient { client in
      let url = server.url()
      let task = Task { try await client.send(request("GET", url)) }
      for await _ in heads { break }
      task.cancel()
      await #expect(throws: OutboundError.cancelled) { try await task.value }
      let late = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.send(request("GET", url))
      }
      await #expect(throws: OutboundError.cancelled) { try await late.value }
    }
  }

  @Test("one request more than the limit is refused, and there is room again once one has ended")
  func tooBusy() async throws {
    let (server, heads) = silentServer()
    defer { server.close() }
    for limit in [1, 2] {
      try await withClient {
        $0.requestsLimit = limit
        $0.connectionsPerHostLimit = 1
      } _: { client in
        let url = server.url()
        let first = Task { try await client.send(request("GET", url)) }
        for await _ in heads { break }
        // Where there is room the second waits for the connection of the first, until its own deadline.
        await #expect(throws: limit == 1 ? OutboundError.tooBusy : .timedOut) {
          try await client.send(request("GET", url, timeout: .milliseconds(100)))
        }
        first.cancel()
        await #expect(throws: OutboundError.cancelled) { try await first.value }
        await #expect(throws: OutboundError.timedOut) {
          try await client.send(request("GET", url, timeout: .milliseconds(100)))
        }
        // The server had that one in its hands.
        for await _ in heads { break }
      }
    }
  }

  @Test(
    "what is not a plain http or https URL is refused before anything is sent",
    arguments: [
      "", "example.org", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://a:b@127.0.0.1/",
      "http://a@127.0.0.1/", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1/ a", "http://127.0.0.1/\0", "http://",
      "http://127.0.0.1/" + String(repeating: "x", count: 8_192)
    ])
  func badURL(_ url: String) async throws {
    try await withClient { client in
      await #expect(throws: OutboundError.invalidURL) { try await client.send(request("GET", url)) }
    }
  }

  @Test("a redirect to what is not http is no way out")
  func redirectToFile() async throws {
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/"] {
      let server = server { _ in "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n" }
      defer { server.close() }
      try await withClient { client in
        await #expect(throws: OutboundError.invalidURL) { try await client.send(request("GET", server.url(), redirects: 2)) }
      }
    }
  }

  @Test(
    "a header or method that would break its line is refused",
    arguments: [
      ("GET", "X", "a\r\nb"), ("GET", "X: y", "a"), ("GET", "", "a"), ("GET", "X", "\0"), ("G T", "X", "a"), ("", "X", "a")
    ])
  func badHeader(_ method: String, _ name: String, _ value: String) async throws {
    try await withClient { client in
      var request = request(method, "http://127.0.0.1:1/")
      request.headers = [(name, value)]
      let made = request
      await #expect(throws: OutboundError.invalidRequest) { try await client.send(made) }
    }
  }

  @Test("nobody there, no answer, no TLS: each is its own error")
  func failures() async throws {
    let silent = LoopbackServer { _, connection in _ = connection.read(until: "\r\n\r\n") }
    let plain = LoopbackServer { _, connection in
      connection.write("this is not TLS")
      connection.waitForEnd()
    }
    // Closed, its port is nobody's.
    let nobody = LoopbackServer { _, _ in }
    nobody.close()
    defer {
      silent.close()
      plain.close()
    }
    try await withClient { client in
      await #expect(throws: OutboundError.brokenAnswer) { try await client.send(request("GET", silent.url())) }
      let url = "https://127.0.0.1:\(plain.port)/"
      await #expect(throws: OutboundError.untrustedServer) { try await client.send(request("GET", url)) }
      await #expect(throws: OutboundError.cannotConnect) { try await client.send(request("GET", nobody.url())) }
    }
  }

  @Test("a client that is shut down ends what is under way and takes nothing more")
  func shutdown() async throws {
    let (server, heads) = silentServer()
    defer { server.close() }
    let client = HTTPClient(OutboundConfiguration(), log: Log("test"))
    let url = server.url()
    let task = Task { try await client.send(request("GET", url)) }
    for await _ in heads { break }
    await client.shutdown()
    await client.shutdown()
    await #expect(throws: OutboundError.shutDown) { try await task.value }
    await #expect(throws: OutboundError.shutDown) { try await client.send(request("GET", url)) }
  }
}
