import Addresses
import EventLoop
import HTTPServer
import JSON
import MatrixModel
import Outbound
import Synchronization
import Testing

@testable import Homeserver
@testable import ServerMedia

/// Previews of pages that a real server on the loopback has. It counts as public for the time of a test, unless told.
@Suite struct PreviewTests {
  private static let path = "/_matrix/client/v1/media/preview_url?url="

  /// A PNG of one pixel.
  private static let picture: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array("any bytes: nobody decodes them here".utf8)

  private static let article = """
    <!DOCTYPE html><html><head><title> Not this </title>
    <meta property="og:title" content="The &quot;title&quot; &amp; more">
    <meta property="og:description" content="What it
      is about"><meta property="og:type" content="article">
    <meta property="og:image" content="/picture.png?a=1&amp;b=2"><meta property="og:video" content="http://x/">
    </head><body><p>Text</body></html>
    """

  private static let plain = """
    <html><head><title>A page\n of old</title><style>p { color: red }</style></head><body><nav>Home</nav>
    <p>First <b>words</b>.<script>alert(1)</script></p><img src="data:image/png;base64,AAAA"><img src="picture.png"><p>Second.
    """

  private final class Pages: Sendable {
    let requests = Atomic<Int>(0)
    /// What the slow page waits for.
    let release = AsyncStream<Void>.makeStream()
  }

  private func router(_ pages: Pages) -> Router {
    var router = Router { error, _ in Response.text("\(error)", status: .internalServerError) }
    func page(_ path: String, _ body: [UInt8], type: String = "text/html") {
      router.on(.get, path) { _ in
        pages.requests.wrappingAdd(1, ordering: .relaxed)
        return Response(headers: ["Content-Type": type], body: .bytes(body))
      }
    }
    page("/article", Array(Self.article.utf8))
    page("/plain", Array(Self.plain.utf8), type: "text/html; charset=UTF-8")
    page("/picture.png", Self.picture, type: "image/png")
    page("/latin", Array("<title>caf".utf8) + [0xE9] + Array("</title>".utf8), type: "text/html; charset=iso-8859-1")
    page("/utf8", Array("<title>café</title>".utf8))
    page("/meta", Array(#"<meta charset="windows-1252"><title>"#.utf8) + [0x80] + Array("5</title>".utf8))
    page("/nothing", [], type: "text/html")
    page("/data", [1, 2, 3], type: "application/octet-stream")
    page("/fake.png", Array("<script>no picture</script>".utf8), type: "image/png")
    page("/fake", Array(#"<title>t</title><meta property="og:image" content="/fake.png">"#.utf8))
    page("/deep", Array(String(repeating: "<div>", count: 100_000).utf8) + Array("<title>x".utf8))
    page("/denied/page", Array("<title>secret</title>".utf8))
    router.on(.get, "/slow") { _ in
      for await _ in pages.release.stream {}
      return Response(headers: ["Content-Type": "text/html"], body: .bytes(Array("<title>slow</title>".utf8)))
    }
    router.on(.get, "/moved") { _ in Response(status: .found, headers: ["Location": "/article"]) }
    router.on(.get, "/to-denied") { _ in Response(status: .found, headers: ["Location": "/denied/page"]) }
    router.on(.get, "/round") { _ in Response(status: .found, headers: ["Location": "/round"]) }
    return router
  }

  /// Runs a test with a server of pages; `ask` answers for one of its paths.
  private func run(
    isPublic: Bool = true, configure: (inout HomeserverConfiguration) -> Void = { _ in },
    _ body: (APIFixture, APIFixture.User, Pages, _ base: String) async throws -> Void
  ) async throws {
    let pages = Pages()
    try await withLoopbackServer(router(pages)) { port in
      try await APIFixture.run(configure: { configuration in
        configuration.registration = .open
        if isPublic, let loopback = IPNetwork("127.0.0.0/8") { configuration.outbound.allowedNetworks = [loopback] }
        configure(&configuration)
      }) { fixture in
        try await body(fixture, try await fixture.register("ann"), pages, "http%3A%2F%2F127.0.0.1:\(port)")
      }
    }
  }

  @Test func `a page is what its OpenGraph properties say, its picture is media`() async throws {
    try await run { fixture, ann, _, base in
      for path in [Self.path, "/_matrix/media/v3/preview_url?url="] {
        let answer = try await fixture.call(.get, "\(path)\(base)%2Farticle", as: ann)
        #expect(answer.status == 200)
        #expect(answer.json["og:title"]?.string == "The \"title\" & more")
        #expect(answer.json["og:description"]?.string == "What it is about")
        #expect(answer.json["og:type"]?.string == "article")
        #expect(answer.json["og:video"] == nil)
        #expect(answer.json["og:image:type"]?.string == "image/png")
        #expect(answer.json["matrix:image:size"]?.integer == Int64(Self.picture.count))
        let uri = try #require(MediaURI(answer.json["og:image"]))
        let download = try await fixture.raw(
          .get, "/_matrix/client/v1/media/download/\(uri.serverName)/\(uri.mediaID)", token: ann.token)
        #expect(download.body == Self.picture)
      }
      #expect(try await fixture.homeserver.mediaModeration.usage(of: ann.userID).items == 0)
    }
  }

  @Test func `a page without properties is its title, its first words and its first picture`() async throws {
    try await run { fixture, ann, _, base in
      let answer = try await fixture.call(.get, "\(Self.path)\(base)%2Fplain", as: ann)
      #expect(answer.json["og:title"]?.string == "A page of old")
      #expect(answer.json["og:description"]?.string == "First words . Second.")
      #expect(MediaURI(answer.json["og:image"]) != nil)
    }
  }

  @Test(arguments: [("latin", "café"), ("utf8", "café"), ("meta", "€5")])
  func `a page is read in the characters it is written in`(page: String, title: String) async throws {
    try await run { fixture, ann, _, base in
      let answer = try await fixture.call(.get, "\(Self.path)\(base)%2F\(page)", as: ann)
      #expect(answer.json["og:title"]?.string == title)
    }
  }

  @Test func `a picture is its own preview, and what says nothing is an empty one`() async throws {
    try await run { fixture, ann, _, base in
      let picture = try await fixture.call(.get, "\(Self.path)\(base)%2Fpicture.png", as: ann)
      #expect(MediaURI(picture.json["og:image"]) != nil && picture.json["og:title"] == nil)
      for page in ["nothing", "data", "fake.png"] {
        let answer = try await fixture.call(.get, "\(Self.path)\(base)%2F\(page)", as: ann)
        #expect(answer.status == 200 && answer.json.count == 0)
      }
      let fake = try await fixture.call(.get, "\(Self.path)\(base)%2Ffake", as: ann)
      #expect(fake.json["og:title"]?.string == "t" && fake.json["og:image"] == nil)
      #expect(try await fixture.call(.get, "\(Self.path)\(base)%2Fdeep", as: ann).status == 200)
    }
  }

  @Test func `a page is fetched once, however many ask, and again after an hour`() async throws {
    try await run { fixture, ann, pages, base in
      let path = "\(Self.path)\(base)%2Futf8"
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<10 {
          group.addTask {
            // The server does not need the fragment.
            let answer = try await fixture.call(.get, "\(path)%23part\(number)", as: ann)
            #expect(answer.json["og:title"]?.string == "café")
          }
        }
        try await group.waitForAll()
      }
      #expect(pages.requests.load(ordering: .relaxed) == 1)
      let now = fixture.homeserver.configuration.clock.now()
      fixture.advance(milliseconds: URLPreviews.lifeMilliseconds)
      _ = try await fixture.call(.get, "\(path)&ts=\(now)", as: ann)
      #expect(pages.requests.load(ordering: .relaxed) == 1, "it is new enough for who wants one of then")
      _ = try await fixture.call(.get, path, as: ann)
      #expect(pages.requests.load(ordering: .relaxed) == 2)
    }
  }

  @Test func `the limit of a user's running previews holds even if others fetch the same page`() async throws {
    try await run { fixture, ann, pages, base in
      let bob = try await fixture.register("bob")
      let path = "\(Self.path)\(base)%2Fslow"
      try await withThrowingTaskGroup(of: APIFixture.Answer.self) { group in
        for _ in 0...URLPreviews.userLimit { group.addTask { try await fixture.call(.get, path, as: ann) } }
        let refused = try #require(try await group.next())
        #expect(refused.status == 429 && refused.errorCode == "M_LIMIT_EXCEEDED")
        group.addTask { try await fixture.call(.get, path, as: bob) }
        pages.release.continuation.finish()
        for try await answer in group { #expect(answer.json["og:title"]?.string == "slow") }
      }
    }
  }

  @Test func `pictures of previews go after a week`() async throws {
    try await run { fixture, ann, _, base in
      let path = "\(Self.path)\(base)%2Farticle"
      let old = try #require(MediaURI(await fixture.call(.get, path, as: ann).json["og:image"])).mediaID
      fixture.advance(milliseconds: URLPreviews.pictureMilliseconds + 1)
      let new = try #require(MediaURI(await fixture.call(.get, path, as: ann).json["og:image"])).mediaID
      #expect(old != new)
      let left = try await fixture.homeserver.mediaModeration.list().records.map(\.mediaID)
      #expect(left == [new])
    }
  }

  @Test func `redirects are followed, but not in circles`() async throws {
    try await run { fixture, ann, _, base in
      let moved = try await fixture.call(.get, "\(Self.path)\(base)%2Fmoved", as: ann)
      #expect(moved.json["og:type"]?.string == "article" && MediaURI(moved.json["og:image"]) != nil)
      let round = try await fixture.call(.get, "\(Self.path)\(base)%2Fround", as: ann)
      #expect(round.status == 200 && round.json.bytes.elementsEqual("{}".utf8))
    }
  }

  @Test func `addresses that are not public and those where nothing is give one and the same answer`() async throws {
    try await run(isPublic: false) { fixture, ann, pages, base in
      var answers: Set<String> = []
      for url in [
        "\(base)%2Farticle", "http%3A%2F%2F127.0.0.1:1%2F", "http%3A%2F%2F%5B%3A%3A1%5D:1%2F", "http%3A%2F%2F10.0.0.1%2F"
      ] {
        let answer = try await fixture.call(.get, Self.path + url, as: ann)
        #expect(answer.status == 200)
        answers.insert(String(decoding: answer.json.bytes, as: UTF8.self))
      }
      #expect(answers.count == 1)
      #expect(pages.requests.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `the operator denies addresses, also behind a redirect, and all previews`() async throws {
    try await run(configure: { $0.media.deniedPreviewURLs = ["*/denied/*"] }) { fixture, ann, _, base in
      for page in ["denied%2Fpage", "to-denied"] {
        let answer = try await fixture.call(.get, "\(Self.path)\(base)%2F\(page)", as: ann)
        #expect(answer.status == 403 && answer.errorCode == "M_FORBIDDEN")
      }
      #expect(try await fixture.call(.get, "\(Self.path)\(base)%2Futf8", as: ann).status == 200)
    }
    try await run(configure: { $0.media.previewsPages = false }) { fixture, ann, pages, base in
      let answer = try await fixture.call(.get, "\(Self.path)\(base)%2Futf8", as: ann)
      #expect(answer.status == 404 && answer.errorCode == "M_UNRECOGNIZED")
      #expect(pages.requests.load(ordering: .relaxed) == 0)
    }
  }

  @Test(arguments: [
    "", "x", "ftp%3A%2F%2Fexample.org%2F", "http%3A%2F%2F", "file%3A%2F%2F%2Fetc%2Fpasswd", "http%3A%2F%2Fa%20b%2F"
  ])
  func `what is no address of a page is refused`(url: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.get, Self.path + url, as: ann)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
    }
  }
}
