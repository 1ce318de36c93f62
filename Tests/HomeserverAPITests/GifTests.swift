import Addresses
import EventLoop
import HTTPServer
import JSON
import MatrixModel
import Outbound
import Synchronization
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerMedia

/// GIFs of a provider that a real server on the loopback plays. It counts as public for the time of a test, unless told.
@Suite struct GifTests {
  private static let path = "/_matrix/client/unstable/martlet.gifs/"

  /// A GIF of 48 by 32 pixels, as far as anybody here looks.
  private static func picture(_ name: String) -> [UInt8] {
    Array("GIF89a".utf8) + [48, 0, 32, 0] + Array("nobody decodes \(name)".utf8)
  }

  private final class Provider: Sendable {
    /// Path and query of what it was asked.
    let asked = Mutex<[String]>([])
    let port = Atomic<Int>(0)
    /// What the slow search waits for.
    let release = AsyncStream<Void>.makeStream()

    var first: String? { asked.withLock { $0.first } }

    func count(_ part: String) -> Int { asked.withLock { $0.count { $0.contains(part) } } }

    var base: String { "http://127.0.0.1:\(port.load(ordering: .relaxed))" }

    /// A GIF as the provider writes it: numbers are texts, and there is much more than anybody needs.
    func gif(_ id: String, preview: String? = nil, full: String? = nil, title: String = "A \\n cat") -> String {
      """
      {"type":"gif","id":"\(id)","title":"\(title)","rating":"g","user":{"name":"x"},"images":{\
      "original":{"url":"\(full ?? base + "/\(id)-full.gif")","width":"480","height":"320","size":"900"},\
      "fixed_width_small":{"url":"\(preview ?? base + "/\(id)-small.gif")","width":"100","height":"67","size":"300","webp":"x"}}}
      """
    }
  }

  private func router(_ provider: Provider) -> Router {
    var router = Router { error, _ in Response.text("\(error)", status: .internalServerError) }
    func answer(_ path: String, _ body: @escaping @Sendable (Request) async -> (Status, [UInt8])) {
      router.on(.get, path) { request in
        let query = request.query.items.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        provider.asked.withLock { $0.append(path + "?" + query) }
        let (status, bytes) = await body(request)
        return Response(status: status, headers: ["Content-Type": "any/thing"], body: .bytes(bytes))
      }
    }
    answer("/v1/search") { request in
      switch request.query["q"] ?? "" {
      case "slow": for await _ in provider.release.stream {}
      case "refused": return (.tooManyRequests, Array("{}".utf8))
      case "senseless": return (.ok, Array("<html>".utf8))
      case "endless": return (.ok, [UInt8](repeating: 0x20, count: 2 << 20))
      case "nothing": return (.ok, Array(#"{"data":[],"pagination":{"total_count":0}}"#.utf8))
      case "lies":
        let gifs = [
          provider.gif("../admin"), provider.gif("page", preview: provider.base + "/page"),
          provider.gif("png", preview: provider.base + "/png"),
          provider.gif("file", preview: "file:///etc/passwd"), provider.gif("inside", preview: "http://10.0.0.1/a.gif"),
          provider.gif("gone", preview: provider.base + "/gone"), "7", #"{"id":"bare"}"#, provider.gif("good", title: "")
        ]
        return (.ok, Array(#"{"data":[\#(gifs.joined(separator: ","))],"pagination":{"total_count":"many"}}"#.utf8))
      default: break
      }
      let gifs = (0..<2).map { provider.gif("cat\($0)") }
      let pages = #""pagination":{"total_count":4,"count":2,"offset":0}"#
      return (.ok, Array(#"{"data":[\#(gifs.joined(separator: ","))],\#(pages)}"#.utf8))
    }
    answer("/v1/trending") { _ in (.ok, Array(#"{"data":[\#(provider.gif("hot"))],"pagination":{"total_count":1}}"#.utf8)) }
    answer("/v1/cat0") { _ in (.ok, Array(#"{"data":\#(provider.gif("cat0"))}"#.utf8)) }
    answer("/v1/late") { _ in
      (.ok, Array(#"{"data":\#(provider.gif("late").replacing(#""rating":"g""#, with: #""rating":"r""#))}"#.utf8))
    }
    answer("/v1/page") { _ in (.ok, Array(#"{"data":\#(provider.gif("page", full: provider.base + "/page"))}"#.utf8)) }
    answer("/v1/none") { _ in (.ok, Array(#"{"data":[]}"#.utf8)) }
    answer("/page") { _ in (.ok, Array("<script>no picture</script>".utf8)) }
    answer("/png") { _ in (.ok, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]) }
    for name in ["cat0-small.gif", "cat1-small.gif", "hot-small.gif", "good-small.gif", "cat0-full.gif"] {
      answer("/" + name) { _ in (.ok, Self.picture(name)) }
    }
    return router
  }

  private func run(
    isPublic: Bool = true, configure: (inout HomeserverConfiguration) -> Void = { _ in },
    _ body: (APIFixture, APIFixture.User, Provider) async throws -> Void
  ) async throws {
    let provider = Provider()
    try await withLoopbackServer(router(provider)) { port in
      provider.port.store(Int(port), ordering: .relaxed)
      try await APIFixture.run(configure: { configuration in
        configuration.registration = .open
        configuration.gifs = GifConfiguration(url: provider.base + "/v1", key: Redacted("k&y"), rating: "pg", name: "Some")
        if isPublic, let loopback = IPNetwork("127.0.0.0/8") { configuration.outbound.allowedNetworks = [loopback] }
        configure(&configuration)
      }) { fixture in
        try await body(fixture, try await fixture.register("ann"), provider)
      }
    }
  }

  // Proves P10
  @Test func `GIFs are found by the server, their pictures are media of nobody, page by page`() async throws {
    try await run { fixture, ann, provider in
      let answer = try await fixture.call(.get, Self.path + "search?q=%20Black%20Cat&lang=de-AT", as: ann)
      #expect(answer.status == 200 && answer.json["next"]?.integer == 2)
      let found = try #require(answer.json["gifs"]?.elements.map { $0 })
      #expect(found.map { $0["id"]?.string } == ["cat0", "cat1"])
      #expect(found[0]["title"]?.string == "A cat" && found[0]["width"]?.integer == 100 && found[0]["height"]?.integer == 67)
      let uri = try #require(MediaURI(found[0]["preview"]))
      let download = try await fixture.raw(
        .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)", token: ann.token)
      #expect(download.body == Self.picture("cat0-small.gif"))
      #expect(try await fixture.homeserver.mediaModeration.usage(of: ann.userID).items == 0)
      #expect(
        provider.first == "/v1/search?api_key=k&y&limit=24&offset=0&rating=pg&q=black cat&lang=de")
      _ = try await fixture.call(.get, Self.path + "search?q=black%20cat&from=2", as: ann)
      #expect(provider.count("&offset=2&rating=pg&q=black cat") == 1)
    }
  }

  @Test func `without words what is much sent now is found; nothing is an empty page`() async throws {
    try await run { fixture, ann, provider in
      let hot = try await fixture.call(.get, Self.path + "search", as: ann)
      #expect(hot.json["gifs"]?.elements.map { $0["id"]?.string } == ["hot"] && hot.json["next"] == nil)
      let nothing = try await fixture.call(.get, Self.path + "search?q=nothing", as: ann)
      #expect(nothing.status == 200 && nothing.json["gifs"]?.count == 0 && nothing.json["next"] == nil)
    }
  }

  @Test func `a page is fetched once an hour for all users`() async throws {
    try await run { fixture, ann, provider in
      let bob = try await fixture.register("bob")
      for user in [ann, bob] { #expect(try await fixture.call(.get, Self.path + "search?q=cat", as: user).status == 200) }
      #expect(provider.count("/v1/search") == 1 && provider.count("cat1-small.gif") == 1)
      fixture.advance(milliseconds: Gifs.lifeMilliseconds)
      _ = try await fixture.call(.get, Self.path + "search?q=CAT", as: ann)
      #expect(provider.count("/v1/search") == 2)
    }
  }

  // Proves P10
  @Test func `of what the provider says only GIFs and WebP under proper IDs and at public addresses are taken`() async throws {
    try await run { fixture, ann, _ in
      let answer = try await fixture.call(.get, Self.path + "search?q=lies", as: ann)
      #expect(answer.json["gifs"]?.elements.map { $0["id"]?.string } == ["good"])
      #expect(answer.json["gifs"]?.elements.map { $0["title"]?.string } == ["GIF"] && answer.json["next"] == nil)
    }
  }

  @Test(arguments: ["refused", "senseless", "endless"])
  func `a provider without a sensible answer is one answer`(words: String) async throws {
    try await run { fixture, ann, _ in
      let answer = try await fixture.call(.get, Self.path + "search?q=\(words)", as: ann)
      #expect(answer.status == 502 && answer.errorCode == "M_UNKNOWN")
      #expect(answer.json["error"]?.string?.contains("127") == false)
    }
  }

  @Test func `pictures that lie at addresses which are not public are none`() async throws {
    try await run(isPublic: false) { fixture, ann, provider in
      let found = try await fixture.call(.get, Self.path + "search?q=cat", as: ann)
      let taken = try await fixture.call(.post, Self.path + "take", as: ann, #"{"id":"cat0"}"#)
      #expect(found.status == 502 && taken.status == 502)
      #expect(provider.count(".gif") == 0)
    }
  }

  @Test func `of an ID that somebody has heard of nothing is taken that a search would not find`() async throws {
    try await run { fixture, ann, provider in
      let taken = try await fixture.call(.post, Self.path + "take", as: ann, #"{"id":"late"}"#)
      #expect(taken.status == 404 && taken.errorCode == "M_NOT_FOUND")
      #expect(provider.count("late-full") == 0)
    }
  }

  // Proves P10
  @Test func `a GIF that is taken is an upload of who takes it`() async throws {
    try await run { fixture, ann, _ in
      let taken = try await fixture.call(.post, Self.path + "take", as: ann, #"{"id":"cat0"}"#)
      let info = try #require(taken.json["info"])
      #expect(info["mimetype"]?.string == "image/gif" && info["size"]?.integer == Int64(Self.picture("cat0-full.gif").count))
      #expect(info["w"]?.integer == 48 && info["h"]?.integer == 32, "what the file says beats what the provider says")
      let uri = try #require(MediaURI(taken.json["content_uri"]))
      let download = try await fixture.raw(
        .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)", token: ann.token)
      #expect(download.body == Self.picture("cat0-full.gif"))
      #expect(try await fixture.homeserver.mediaModeration.usage(of: ann.userID).items == 1)
    }
    try await run(configure: { $0.media.userQuotaBytes = 10 }) { fixture, ann, _ in
      let taken = try await fixture.call(.post, Self.path + "take", as: ann, #"{"id":"cat0"}"#)
      #expect(taken.status == 403 && taken.errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `what is no GIF, or none that is known, is not taken`() async throws {
    try await run { fixture, ann, provider in
      for (id, status) in [("none", 404), ("unknown", 404), ("page", 502), ("", 400), ("../search", 400), ("a?b", 400)] {
        let taken = try await fixture.call(.post, Self.path + "take", as: ann, #"{"id":"\#(id)"}"#)
        #expect(taken.status == status, "\(id)")
      }
      #expect(try await fixture.homeserver.mediaModeration.usage(of: ann.userID).items == 0)
    }
  }

  @Test func `words, pages and what one user has under way have limits`() async throws {
    try await run { fixture, ann, provider in
      let long = String(repeating: "a", count: Gifs.wordsBytesLimit + 1)
      for query in ["q=\(long)", "from=5000", "from=-1", "from=x"] {
        let answer = try await fixture.call(.get, Self.path + "search?\(query)", as: ann)
        #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
      }
      #expect(provider.first == nil)
      try await withThrowingTaskGroup(of: APIFixture.Answer.self) { group in
        for _ in 0...Gifs.userLimit { group.addTask { try await fixture.call(.get, Self.path + "search?q=slow", as: ann) } }
        let refused = try #require(try await group.next())
        #expect(refused.status == 429 && refused.errorCode == "M_LIMIT_EXCEEDED")
        provider.release.continuation.finish()
        for try await answer in group { #expect(answer.json["gifs"]?.count == 2) }
      }
    }
  }

  @Test func `where no provider is named there is no such thing, and nothing says so`() async throws {
    let capabilities = "/_matrix/client/v3/capabilities"
    try await run { fixture, ann, _ in
      let offered = try await fixture.call(.get, capabilities, as: ann).json["capabilities"]?["martlet.gifs"]
      #expect(offered?["enabled"]?.bool == true && offered?["provider"]?.string == "Some")
    }
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.get, Self.path + "search?q=cat", as: ann)
      #expect(answer.status == 404 && answer.errorCode == "M_UNRECOGNIZED")
      #expect(try await fixture.call(.get, capabilities, as: ann).json["capabilities"]?["martlet.gifs"] == nil)
    }
  }
}
