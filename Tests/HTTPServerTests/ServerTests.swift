import Addresses
import EventLoop
import HTTPServer
import Testing

@Suite(.serialized) struct ServerTests {
  private static let router: Router = {
    var router = Router()
    router.on(.get, "/hello") { _ in .text("hello") }
    router.on(.get, "/empty") { _ in Response(status: .noContent) }
    router.on(.post, "/echo", bodyLimit: 1000) { .json(try await $0.body.collect(upTo: 1 << 20)) }
    router.on(.post, "/ignore") { _ in .text("ignored") }
    router.on(.get, "/peer") { .text($0.peer.address) }
    router.on(.get, "/parts") { _ in
      Response(body: .parts((0..<40).map { [UInt8](repeating: UInt8($0), count: 1000) }))
    }
    router.on(.get, "/split") { _ in Response(headers: ["X-Name": "a\r\nSet-Cookie: b", "Content-Length": "7"], body: .empty) }
    router.on(.get, "/chunks") { _ in
      Response(body: .stream(length: nil) { writer in for n in 0..<5 { try await writer.write(Array("<\(n)>".utf8)) } })
    }
    router.on(.get, "/short") { _ in Response(body: .stream(length: 10) { try await $0.write(Array("abc".utf8)) }) }
    return router
  }()

  @Test(arguments: [
    ("CL and TE", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("TE and CL", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
    ("two CL", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    ("two equal CL", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"),
    ("list CL", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na"),
    ("plus CL", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na"),
    ("space before colon", "GET /hello HTTP/1.1\r\nHost : x\r\n\r\n"),
    ("space before colon of TE", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    ("bare CR", "GET /hello HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n"),
    ("obs-fold", "GET /hello HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n"),
    ("NUL", "GET /hello HTTP/1.1\r\nHost: x\r\nX: a\u{0}b\r\n\r\n"),
    ("bare LF", "GET /hello HTTP/1.1\nHost: x\n\n"),
    ("bare LF in headers", "GET /hello HTTP/1.1\r\nHost: x\nX: y\r\n\r\n"),
    ("bad TE", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    ("TE not last", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    ("HTTP/0.9", "GET /hello\r\n\r\n"),
    ("no Host", "GET /hello HTTP/1.1\r\n\r\n"),
    ("empty name", "GET /hello HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n"),
    ("chunk size with 0x", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n"),
    ("chunk without CRLF", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab0\r\n\r\n")
  ])
  func `what could smuggle a request is refused and the connection closed`(name: String, bytes: String) async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send(bytes + "GET /hello HTTP/1.1\r\nHost: smuggled\r\n\r\n")
      let answer = try client.answer()
      #expect((400...505).contains(answer.status))
      #expect(answer.header("Connection") == "close")
      #expect(try client.receiveToEnd() == [])
    }
  }

  @Test func `a connection carries one request after the other, also sent at once`() async throws {
    try await withServer(Self.router) { server, address in
      let client = try RawClient(address)
      for _ in 0..<3 {
        try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().text == "hello")
      }
      try client.send(
        String(
          repeating: "GET /hello HTTP/1.1\r\nHost: x\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok",
          count: 150))
      for _ in 0..<150 {
        #expect(try client.answer().text == "hello")
        #expect(try client.answer().text == "ok")
      }
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `HEAD and 204 have no body, HTTP 1.0 and close end the connection`() async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.answer(toHead: true).header("content-length") == "5")
      try client.send("GET /empty HTTP/1.1\r\nHost: x\r\n\r\n")
      let empty = try client.answer()
      #expect(empty.status == 204 && empty.header("content-length") == nil)
      try client.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      #expect(try client.answer().text == "hello")
      #expect(try client.receiveToEnd() == [])

      let old = try RawClient(address)
      try old.send("GET /chunks HTTP/1.0\r\n\r\n")
      let answer = String(decoding: try old.receiveToEnd(), as: UTF8.self)
      #expect(answer.contains("Connection: close") && answer.hasSuffix("\r\n\r\n<0><1><2><3><4>"))
    }
  }

  @Test func `bodies in parts and in chunks arrive whole, and no header value ends its line`() async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send("GET /parts HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.answer().body == (0..<40).flatMap { [UInt8](repeating: UInt8($0), count: 1000) })
      try client.send("GET /chunks HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.answer().text == "<0><1><2><3><4>")
      try client.send("GET /split HTTP/1.1\r\nHost: x\r\n\r\n")
      let split = try client.answer()
      #expect(split.header("Set-Cookie") == nil)
      #expect(split.header("Content-Length") == "0")
    }
  }

  @Test func `a streamed body that ends too early closes the connection`() async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send("GET /short HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(String(decoding: try client.receiveToEnd(), as: UTF8.self).hasSuffix("abc"))
    }
  }

  @Test(arguments: [true, false]) func `a body may be as long as its route allows`(isChunked: Bool) async throws {
    try await withServer(Self.router) { _, address in
      for (count, status) in [(1000, 200), (1001, 413)] {
        let client = try RawClient(address)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(count)"
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        let body = [UInt8](repeating: 97, count: count)
        try client.send(isChunked ? Array("\(String(count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8) : body)
        #expect(try client.answer().status == status)
      }
    }
  }

  @Test func `100 Continue comes when the body is read, and not for one that is too long`() async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.answer().status == 100)
      try client.send("ok")
      #expect(try client.answer().text == "ok")
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
      let refused = try client.answer()
      #expect(refused.status == 413 && refused.header("Connection") == "close")
      let ignoring = try RawClient(address)
      try ignoring.send("POST /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
      #expect(try ignoring.answer().status == 200)
    }
  }

  @Test func `a short body nobody read is skipped, a long one ends the connection after the answer`() async throws {
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send("POST /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
      #expect(try client.answer().header("Connection") == nil)
      try client.send("abcGET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.answer().text == "hello")
      try client.send("POST /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
      #expect(try client.answer().header("Connection") == "close")
      #expect(try client.receiveToEnd() == [])
    }
  }

  @Test func `the peer is what a trusted proxy says, and nobody else`() async throws {
    let request = "GET /peer HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.1.1.1, 2001:db8::1, 10.0.0.1\r\n\r\n"
    try await withServer(Self.router) { _, address in
      let client = try RawClient(address)
      try client.send(request)
      #expect(try client.answer().text == "127.0.0.1")
    }
    try await withServer(
      Self.router, configure: { $0.trustedProxies = [IPNetwork("127.0.0.0/8")!, IPNetwork("10.0.0.0/8")!] }
    ) { _, address in
      let client = try RawClient(address)
      try client.send(request)
      #expect(try client.answer().text == "2001:db8::1")
    }
  }

  @Test func `every finished request is reported by its pattern`() async throws {
    let reports = Signal<FinishedRequest>()
    try await withServer(Self.router, configure: { $0.requestFinished = { reports.send($0) } }) { _, address in
      let client = try RawClient(address)
      try client.send("POST /echo?access_token=secret HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
      _ = try client.answer()
      let report = await reports.wait()
      #expect(report?.routePattern == "/echo" && report?.method == .post && report?.status == .ok)
      #expect(report?.requestBodyBytes == 3 && report?.responseBodyBytes == 3)
    }
  }

  @Test func `an address in use is refused by name`() async throws {
    try await withServer(Self.router) { _, address in
      let loops = try EventLoopGroup(count: 1)
      let pool = try BlockingPool(threads: 1)
      let second = HTTPServer(
        configuration: HTTPServerConfiguration(bind: [address]), router: Router(), loops: loops, pool: pool)
      let error = await #expect(throws: BindError.self) { try await second.start() }
      #expect(error?.address == address.description)
      await loops.shutdown()
      await pool.shutdown()
    }
  }

  @Test func `several loops share one port`() async throws {
    try await withServer(Self.router, loops: 3) { _, address in
      for _ in 0..<20 {
        let client = try RawClient(address)
        try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().text == "hello")
      }
    }
  }
}
