import Addresses
import EventLoop
import Glibc
@testable import HTTPServer
import Testing

@Suite(.serialized) struct StaticFilesTests {
  /// A directory with a page, a program in two codings, and a secret beside it.
  private final class Site: Sendable {
    let root: String

    init() {
      var template = Array("/tmp/martlet-static-XXXXXX".utf8CString)
      _ = mkdtemp(&template)
      root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      mkdir(root + "/site", 0o700)
      mkdir(root + "/site/sub", 0o700)
      write("site/index.html", "<p>hi")
      write("site/app.wasm", "0123456789")
      write("site/app.wasm.br", "brotli")
      write("site/.hidden", "hidden")
      write("secret", "secret")
    }

    deinit {
      for name in ["site/index.html", "site/app.wasm", "site/app.wasm.br", "site/.hidden", "secret"] {
        unlink("\(root)/\(name)")
      }
      for name in ["site/sub", "site", ""] { rmdir("\(root)/\(name)") }
    }

    private func write(_ name: String, _ text: String) {
      let file = fopen("\(root)/\(name)", "w")!
      fputs(text, file)
      fclose(file)
    }
  }

  private func withSite(_ body: @Sendable (RawClient) async throws -> Void) async throws {
    let site = Site()
    let pool = try BlockingPool(threads: 1)
    let files = StaticFiles(directory: site.root + "/site", pool: pool) { $0.hasSuffix(".wasm") ? "max-age=60" : "no-cache" }
    var router = Router()
    router.on(.get, "/{path...}") { request in
      try await files.response(to: request, path: request.parameters["path"] ?? "") ?? .text("none", status: .notFound)
    }
    try await withServer(router) { _, address in try await body(try RawClient(address)) }
    await pool.shutdown()
    withExtendedLifetime(site) {}
  }

  private func get(_ client: RawClient, _ path: String, _ fields: String = "", method: String = "GET") throws
    -> RawClient.Answer
  {
    try client.send("\(method) \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    return try client.answer(toHead: method == "HEAD")
  }

  @Test func `a file comes with its type, its tag and its caching`() async throws {
    try await withSite { client in
      let page = try get(client, "/")
      #expect(page.text == "<p>hi" && page.header("Content-Type") == "text/html; charset=utf-8")
      #expect(page.header("Cache-Control") == "no-cache")
      let program = try get(client, "/app.wasm")
      #expect(program.text == "0123456789" && program.header("Content-Type") == "application/wasm")
      #expect(program.header("Cache-Control") == "max-age=60" && program.header("Vary") == "Accept-Encoding")
      #expect(try get(client, "/app.wasm", method: "HEAD").header("Content-Length") == "10")
      let tag = program.header("ETag") ?? ""
      for field in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
        #expect(try get(client, "/app.wasm", "If-None-Match: \(field)\r\n").status == 304)
      }
      #expect(try get(client, "/app.wasm", "If-None-Match: \"x\"\r\n").status == 200)
    }
  }

  @Test func `the compressed file goes to those who take it`() async throws {
    try await withSite { client in
      let taken = try get(client, "/app.wasm", "Accept-Encoding: gzip, br;q=0.5\r\n")
      #expect(taken.text == "brotli" && taken.header("Content-Encoding") == "br")
      #expect(taken.header("Content-Type") == "application/wasm")
      for field in ["gzip", "br;q=0", "br;q=0.000", "brx"] {
        #expect(try get(client, "/app.wasm", "Accept-Encoding: \(field)\r\n").text == "0123456789")
      }
    }
  }

  @Test(arguments: [
    ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=8-", 206, "89", "bytes 8-9/10"),
    ("bytes=-3", 206, "789", "bytes 7-9/10"),
    ("bytes=9-99", 206, "9", "bytes 9-9/10"), ("bytes=-99", 206, "0123456789", "bytes 0-9/10"),
    ("Bytes = 1-1", 200, "0123456789", nil), ("bytes=0-1,3-4", 200, "0123456789", nil), ("bytes=3-1", 200, "0123456789", nil),
    ("lines=1-2", 200, "0123456789", nil), ("bytes=a-b", 200, "0123456789", nil),
    ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
    ("bytes=0-99999999999999999999", 200, "0123456789", nil)
  ])
  func `a range answers a part`(range: String, status: Int, body: String, contentRange: String?) async throws {
    try await withSite { client in
      let answer = try get(client, "/app.wasm", "Range: \(range)\r\n")
      #expect(answer.status == status && answer.text == body && answer.header("Content-Range") == contentRange)
    }
  }

  @Test func `a range applies only to the version it was asked for`() async throws {
    try await withSite { client in
      let tag = try get(client, "/app.wasm").header("ETag") ?? ""
      #expect(try get(client, "/app.wasm", "Range: bytes=0-0\r\nIf-Range: \(tag)\r\n").status == 206)
      #expect(try get(client, "/app.wasm", "Range: bytes=0-0\r\nIf-Range: \"other\"\r\n").status == 200)
    }
  }

  @Test(arguments: [
    "/../secret", "/%2e%2e/secret", "/sub/../../secret", "/sub%2f..%2f..%2fsecret", "/..%5csecret", "//etc/passwd", "/.hidden",
    "/sub/.", "/sub/", "/sub", "/app.wasm/", "/app.wasm%00.html", "/none"
  ])
  func `no path leads out of the directory or to what is no file`(path: String) async throws {
    try await withSite { client in
      let answer = try get(client, path)
      #expect(answer.status == 404)
    }
  }
}

@Suite struct AddressTests {
  @Test(arguments: [
    ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:8008", "[::1]:8008"), ("[::ffff:1.2.3.4]:1", "1.2.3.4:1"),
    ("0.0.0.0:0", "0.0.0.0:0")
  ])
  func `an address is read and written`(text: String, written: String) {
    #expect(SocketAddress(text)?.description == written)
  }

  @Test(arguments: [
    "", ":80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1", "::1:80", "localhost:80", "1.2.3:80", "[::1:80"
  ])
  func `what is no numeric address is refused`(text: String) {
    #expect(SocketAddress(text) == nil)
  }

  @Test func `names resolve`() throws {
    #expect(try SocketAddress.resolve("localhost:80").contains { $0.isLoopback && $0.port == 80 })
    #expect(throws: BindError.self) { try SocketAddress.resolve("localhost") }
  }

  @Test(arguments: [
    (["10.0.0.0/8"], "10.255.0.1:1", true), (["10.0.0.0/8"], "11.0.0.1:1", false),
    (["10.0.0.0/8"], "[::ffff:10.0.0.1]:1", true),
    (["::ffff:10.0.0.0/104"], "10.0.0.1:1", true), (["::ffff:10.0.0.0/104"], "11.0.0.1:1", false),
    (["::/0"], "1.1.1.1:1", true), (["0.0.0.0/0"], "[::1]:1", false), (["fd00::/8", "::1"], "[::1]:1", true),
    ([], "1.1.1.1:1", false)
  ])
  func `a proxy is trusted whose address is in a network, mapped or not`(
    networks: [String], address: String, expected: Bool
  ) async throws {
    let address = try #require(SocketAddress(address))
    var configuration = HTTPServerConfiguration(bind: [])
    configuration.trustedProxies = try networks.map { try #require(IPNetwork($0)) }
    let pool = try BlockingPool(threads: 1)
    let core = ServerCore(configuration: configuration, router: Router(), pool: pool)
    #expect(core.isTrustedProxy(address) == expected)
    await pool.shutdown()
  }

  @Test func `dates are written as the standard wants`() {
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}
