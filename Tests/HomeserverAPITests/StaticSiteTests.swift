import EventLoop
import Glibc
import HTTPServer
import ServerAccounts
import Testing

@testable import HomeserverAPI

@Suite struct StaticSiteTests {
  /// A router with the site alone, over a folder with a page, further empty files and a program elsewhere.
  private static func withSite(
    and names: [String] = [], embeddedIn origins: [String] = [], _ body: (Router) async throws -> Void
  ) async throws {
    var template = Array("/tmp/martlet-site-XXXXXX".utf8CString)
    let directory = String(cString: mkdtemp(&template))
    let program = directory + "-program.wasm"
    let files =
      [(directory + "/index.html", "<p>page"), (directory + "/.secret", "secret"), (program, "wasm")]
      + names.map { (directory + "/" + $0, "") }
    for (path, text) in files {
      let file = fopen(path, "w")
      fputs(text, file)
      fclose(file)
    }
    let pool = try BlockingPool(threads: 1)
    var configuration = APIConfiguration()
    configuration.webDirectory = directory
    configuration.webProgram = program
    configuration.embedOrigins = origins.compactMap { WebOrigin(of: $0) }
    var router = Router()
    router.on(.get, "/_matrix/known") { _ in Response() }
    StaticSite(configuration, pool: pool)?.mount(on: &router)
    try await body(router)
    await pool.shutdown()
    for (path, _) in files { unlink(path) }
    rmdir(directory)
  }

  @Test func `the page comes with a policy that lets no foreign script in`() async throws {
    try await Self.withSite { router in
      for path in ["/", "/index.html"] {
        let response = await router.respond(to: Request(.get, path))
        #expect(response.status == .ok)
        #expect(response.headers["Content-Type"]?.hasPrefix("text/html") == true)
        let policy = try #require(response.headers["Content-Security-Policy"])
        for part in [
          "default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", "object-src 'none'", "base-uri 'none'"
        ] {
          #expect(policy.split(separator: "; ").contains { $0 == part })
        }
        #expect(!policy.contains("unsafe-inline"))
        #expect(response.headers["X-Content-Type-Options"] == "nosniff")
      }
    }
  }

  @Test func `pages of embed_origins may frame the messenger and nothing else`() async throws {
    let files = ["messenger.html", "martlet-messenger.js", "martlet-call.js"]
    try await Self.withSite(and: files, embeddedIn: ["https://shop.example", "http://localhost:8080"]) { router in
      let frame = await router.respond(to: Request(.get, "/messenger.html"))
      #expect(
        frame.headers["Content-Security-Policy"]?.hasSuffix(
          "; frame-ancestors 'self' https://shop.example http://localhost:8080") == true)
      #expect(frame.headers["Content-Security-Policy"]?.hasPrefix(StaticSite.contentSecurityPolicy) == true)
      #expect(frame.headers["Cross-Origin-Opener-Policy"] == "unsafe-none")
      for path in ["/", "/index.html", "/app.wasm", "/martlet-call.js", "/none"] {
        let response = await router.respond(to: Request(.get, path))
        #expect(response.headers["Content-Security-Policy"] == StaticSite.contentSecurityPolicy)
        #expect(response.headers["Cross-Origin-Opener-Policy"] == "same-origin")
      }
    }
    try await Self.withSite(and: files) { router in
      let frame = await router.respond(to: Request(.get, "/messenger.html"))
      #expect(frame.headers["Content-Security-Policy"] == StaticSite.contentSecurityPolicy)
    }
  }

  @Test func `the program may lie elsewhere`() async throws {
    try await Self.withSite { router in
      let response = await router.respond(to: Request(.get, "/app.wasm"))
      #expect(response.status == .ok)
      #expect(response.headers["Content-Type"] == "application/wasm")
    }
  }

  @Test func `a missing program is still being built while the marker of ./run is there`() async throws {
    try await Self.withSite(and: [StaticSite.buildMarker]) { router in
      let response = await router.respond(to: Request(.get, "/RoomCalls.wasm"))
      #expect(response.status == .serviceUnavailable)
      #expect(response.headers["Retry-After"] == "5")
      #expect(await router.respond(to: Request(.get, "/none.js")).status == .notFound)
      #expect(await router.respond(to: Request(.get, "/" + StaticSite.buildMarker)).status == .notFound)
    }
    try await Self.withSite { router in
      #expect(await router.respond(to: Request(.get, "/RoomCalls.wasm")).status == .notFound)
    }
  }

  @Test func `paths of unknown endpoints stay unknown, whatever the method`() async throws {
    try await Self.withSite { router in
      for (method, path, status) in [
        (HTTPMethod.post, "/_matrix/x", 404), (.post, "/_matrix/known", 405), (.post, "/x", 404)
      ] {
        let response = await router.respond(to: Request(method, path))
        #expect(response.status.code == status)
      }
    }
  }

  @Test(arguments: ["/.secret", "/../index.html", "/%2e%2e/etc/passwd", "/none", "/_matrix/x", "/.well-known/x"])
  func `nothing else is there`(path: String) async throws {
    try await Self.withSite { router in
      let response = await router.respond(to: Request(.get, path))
      #expect(response.status != .ok)
    }
  }
}
