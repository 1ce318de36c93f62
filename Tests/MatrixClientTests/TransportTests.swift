import Glibc
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import MatrixClient

/// A plain GET, as discovery makes them.
func get(_ url: String) -> Exchange {
  let request = HTTPRequest(
    method: .get, target: url, body: nil, contentType: nil, accessToken: nil, timeoutMilliseconds: 60_000)
  return Exchange(request, to: "")
}

extension Response {
  var status: Int? {
    if case .answer(let status, _) = self { return status }
    return nil
  }

  var text: String {
    if case .answer(_, let body) = self { return String(decoding: body, as: UTF8.self) }
    return "\(self)"
  }
}

func bytes(ofFile path: String) -> [UInt8]? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
  return bytes
}

/// A file of so many bytes, each different from its neighbours.
func temporaryFile(bytes count: Int) -> String {
  let path = temporaryPath()
  let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  if let file = fopen(path, "w") {
    fwrite(bytes, 1, count, file)
    fclose(file)
  }
  return path
}

@Suite struct TransportTests {
  static let transports: [@Sendable (TransportSettings) -> any Transport] = {
    #if MARTLET_URLSESSION
      [{ CurlTransport($0) }, { URLSessionTransport($0) }]
    #else
      [{ standardTransport($0) }]
    #endif
  }()

  /// `HTTP/1.1 200 X`, two header lines, an empty one and `{}`, cut after each byte: in the body, and in the headers, where some
  /// hold what came for an answer without a body.
  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `an answer that is cut off is an error`(which: Int) async {
    let length = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8.count
    let transport = Self.transports[which](TransportSettings())
    for limit in 0...length {
      let server = FixtureServer(bytesLimit: limit) { _ in (200, "{}") }
      defer { server.stop() }
      let answer = await transport.carry(get(server.url + "/"))
      if case .networkError = answer {
        #expect(limit < length)
      } else {
        #expect(limit == length && answer.text == "{}", "after \(limit) bytes")
      }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `an answer that says it is too long is not waited for`(
    which: Int
  ) async {
    let body = String(repeating: "x", count: 1_000_000)
    let head = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n".utf8.count
    // Ten bytes come of it.
    let server = FixtureServer(bytesLimit: head + 10) { _ in (200, body) }
    defer { server.stop() }
    let heard = Mutex<[TransferProgress]>([])
    var exchange = get(server.url + "/")
    exchange.answerBytesLimit = 999_999
    exchange.progress = { step in heard.withLock { $0.append(step) } }
    guard case .networkError = await Self.transports[which](TransportSettings()).carry(exchange) else {
      Issue.record("an answer although it is too long")
      return
    }
    let last = heard.withLock { $0.last }
    #expect(last?.bytesToReceive == 1_000_000 && last.map { $0.receivedBytes <= 10 } == true, "\(String(describing: last))")
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `a cancelled request closes its connection`(
    which: Int
  ) async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    let (closings, closed) = AsyncStream.makeStream(of: Void.self)
    let server = FixtureServer(onClose: { closed.yield() }) { [ends] _ in
      arrived.yield()
      var byte: UInt8 = 0
      _ = read(ends[0], &byte, 1)
      return (200, "{}")
    }
    defer { server.stop() }
    let transport = Self.transports[which](TransportSettings())
    let task = Task { await transport.carry(get(server.url + "/")) }
    for await _ in arrivals { break }
    task.cancel()
    guard case .networkError = await task.value else {
      Issue.record("an answer although it was cancelled")
      return
    }
    close(ends[1])
    // The transport lives on and would keep the connection if it were still good.
    for await _ in closings { break }
    withExtendedLifetime(transport) {}
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `a file is sent as it is, with progress to its end`(
    which: Int
  ) async throws {
    let size = 600_000
    let path = temporaryFile(bytes: size)
    defer { unlink(path) }
    let received = Mutex(0)
    let server = FixtureServer { request in
      received.withLock { $0 = request.bodyBytes }
      return (200, #"{"content_uri":"mxc://t/a"}"#)
    }
    defer { server.stop() }
    var exchange = get(server.url + "/upload")
    exchange.request.method = .post
    exchange.body = .file(path: path)
    let steps = Mutex<[TransferProgress]>([])
    exchange.progress = { step in steps.withLock { $0.append(step) } }
    let response = await Self.transports[which](TransportSettings()).carry(exchange)
    #expect(response.status == 200)
    #expect(received.withLock { $0 } == size)
    let sent = steps.withLock { $0.map { $0.sentBytes } }
    #expect(sent == sent.sorted())
    #expect(sent.last == Int64(size))
    #expect(sent.count > 1)
    #expect(sent.count <= 110)
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `a file that is not there is said to be gone`(
    which: Int
  ) async {
    var exchange = get("http://127.0.0.1:1/")
    exchange.request.method = .post
    for path in ["/nowhere/at/all", "/tmp"] {
      exchange.body = .file(path: path)
      let response = await Self.transports[which](TransportSettings()).carry(exchange)
      if case .blobIsGone = response {} else if which == 0 { Issue.record("\(response)") }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `a download is a file once it is whole`(
    which: Int
  ) async {
    let text = String(repeating: "0123456789", count: 100_000)
    let server = FixtureServer { request in
      request.target == "/gone" ? (404, #"{"errcode":"M_NOT_FOUND"}"#) : (200, request.target == "/empty" ? "" : text)
    }
    defer { server.stop() }
    let transport = Self.transports[which](TransportSettings())
    let path = temporaryPath()
    defer { unlink(path) }
    var exchange = get(server.url + "/file")
    exchange.destination = .file(path: path)
    let last = Mutex(TransferProgress())
    exchange.progress = { step in last.withLock { $0 = step } }
    let response = await transport.carry(exchange)
    #expect(response.status == 200 && response.text.isEmpty)
    #expect(bytes(ofFile: path) == Array(text.utf8))
    #expect(last.withLock { $0.receivedBytes } == 1_000_000)
    unlink(path)

    exchange.answerBytesLimit = 999_999
    #expect(await transport.carry(exchange).status == nil)
    #expect(bytes(ofFile: path) == nil && bytes(ofFile: path + ".part") == nil)
    exchange.answerBytesLimit = 1_000_000
    #expect(await transport.carry(exchange).status == 200)
    unlink(path)

    exchange.request.target = server.url + "/gone"
    #expect(await transport.carry(exchange).text.contains("M_NOT_FOUND"))
    #expect(bytes(ofFile: path) == nil)
    exchange.request.target = server.url + "/empty"
    #expect(await transport.carry(exchange).status == 200)
    #expect(bytes(ofFile: path) == [])
  }

  @Test(.timeLimit(.minutes(1)), arguments: transports.indices) func `each method goes out with its body`(
    which: Int
  ) async {
    let server = FixtureServer { (200, "\($0.method) \($0.target) \($0.body)") }
    defer { server.stop() }
    let transport = Self.transports[which](TransportSettings())
    let methods: [(Endpoint.Method, String?, String)] = [
      (.get, nil, "GET /x?y=%20 "), (.put, "{}", "PUT /x?y=%20 {}"), (.post, #"{"a":1}"#, #"POST /x?y=%20 {"a":1}"#),
      (.delete, nil, "DELETE /x?y=%20 "), (.delete, "{}", "DELETE /x?y=%20 {}")
    ]
    for (method, body, expected) in methods {
      let request = HTTPRequest(
        method: method, target: "/x?y=%20", body: body.map { Array($0.utf8) }, contentType: "application/json",
        accessToken: "T", timeoutMilliseconds: 10_000)
      #expect(await transport.carry(Exchange(request, to: server.url)).text == expected)
    }
  }
}

/// What a server with a certificate of its own is trusted with.
@Suite struct TrustTests {
  let server = TLSServer.shared

  func ask(
    _ change: (inout TransportSettings) -> Void, path: String = "/"
  ) async -> Response {
    var settings = TransportSettings()
    change(&settings)
    return await standardTransport(settings).carry(get("https://localhost:\(server.port)\(path)"))
  }

  @Test(.timeLimit(.minutes(1))) func `a server with a root of its own works only with that root`() async {
    guard case .untrustedServer = await ask({ _ in }) else {
      Issue.record("trusted without its root")
      return
    }
    guard case .untrustedServer = await ask({ $0.rootCertificates = server.otherRoot }) else {
      Issue.record("trusted with another root")
      return
    }
    guard case .untrustedServer = await ask({ $0.rootCertificates = "/nowhere" }) else {
      Issue.record("trusted with no root")
      return
    }
    #expect(await ask({ $0.rootCertificates = server.root }).status == 200)
    // The server's own certificate does as well: it is pinned then.
    #expect(await ask({ $0.rootCertificates = server.certificate }).status == 200)
  }

  @Test(.timeLimit(.minutes(1))) func `a certificate is good for its names only`() async {
    var settings = TransportSettings()
    settings.rootCertificates = server.root
    settings.connectTo = ["other.test:443:127.0.0.1:\(server.port)", "example.test:443:127.0.0.1:\(server.port)"]
    let transport = standardTransport(settings)
    #expect(await transport.carry(get("https://example.test/")).status == 200)
    guard case .untrustedServer = await transport.carry(get("https://other.test/")) else {
      Issue.record("trusted under another name")
      return
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a pinned key is the only one that is taken`() async {
    let wrong = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    #expect(
      await ask({
        $0.rootCertificates = server.root
        $0.pinnedPublicKeys = [wrong, server.pin]
      }).status == 200)
    guard
      case .untrustedServer = await ask({
        $0.rootCertificates = server.root
        $0.pinnedPublicKeys = [wrong]
      })
    else {
      Issue.record("another key was taken")
      return
    }
    // A pin does not stand in for trust.
    guard case .untrustedServer = await ask({ $0.pinnedPublicKeys = [server.pin] }) else {
      Issue.record("trusted by its pin")
      return
    }
  }

  @Test func `the public key of a certificate is found in it`() throws {
    let certificate = try #require(bytes(ofFile: server.certificateDER))
    #expect(CertificateKey.publicKey(inDER: certificate) == bytes(ofFile: server.publicKeyDER))
    for length in 0..<certificate.count { #expect(CertificateKey.publicKey(inDER: Array(certificate[..<length])) == nil) }
  }

  @Test(.timeLimit(.minutes(1))) func `the user agent is the one that was set`() async {
    let response = await ask(
      {
        $0.rootCertificates = server.root
        $0.userAgent = "Tea/1.0"
      }, path: "/agent")
    #expect(response.text == #"{"agent": "Tea/1.0"}"#)
  }

  @Test(.timeLimit(.minutes(1))) func `a file goes to such a server whole`() async {
    let path = temporaryFile(bytes: 200_000)
    defer { unlink(path) }
    var settings = TransportSettings()
    var exchange = get("https://localhost:\(server.port)/upload")
    exchange.request.method = .post
    exchange.body = .file(path: path)
    guard case .untrustedServer = await standardTransport(settings).carry(exchange) else {
      Issue.record("a file was sent to a server that is not trusted")
      return
    }
    settings.rootCertificates = server.root
    #expect(await standardTransport(settings).carry(exchange).text.contains("mxc://test/"))
  }

  @Test(.timeLimit(.minutes(1))) func `a login at a server that is not trusted says so`() async {
    do {
      _ = try await MatrixClient.logIn(to: "https://localhost:\(server.port)", user: "me", password: "secret")
      Issue.record("logged in")
    } catch {
      guard case .untrustedServer = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  // MARK: Discovery

  private func reachable() -> any Transport {
    var settings = TransportSettings()
    settings.rootCertificates = server.root
    settings.connectTo = ["example.test:443:127.0.0.1:\(server.port)"]
    return standardTransport(settings)
  }

  @Test(.timeLimit(.minutes(1))) func `public rooms without an account, from a name alone, over a redirect`() async throws {
    let homeserver = Homeserver("example.test", transport: reachable())
    #expect(try await homeserver.publicRooms().rooms.map { $0.name } == ["Tea"])
    let found = try await homeserver.discover()
    #expect(found.url.string == "https://example.test/base")
    #expect(found.versions.supports(major: 1, minor: 19))
    #expect(
      try await homeserver.singleSignOnURL(redirect: "app://in")
        == "https://example.test/base/_matrix/client/v3/login/sso/redirect?redirectUrl=app%3A%2F%2Fin&action=login")
  }

  @Test(.timeLimit(.minutes(1))) func `a name where nobody is is told with the spec's action`() async {
    do {
      _ = try await Homeserver("localhost:1").versions()
      Issue.record("found")
    } catch {
      guard case .noHomeserver(.failPrompt(.noAnswer)) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test(.timeLimit(.minutes(1))) func `redirects end, lead to https only, and are not followed unasked`() async {
    let transport = reachable()
    for path in ["/loop", "/down"] {
      var exchange = get("https://example.test" + path)
      #expect(await transport.carry(exchange).status == 302)
      exchange.redirectLimit = 5
      #expect(await transport.carry(exchange).status == nil)
    }
  }
}
