@testable import HTTPServer
import Testing

@Suite struct RouterTests {
  private static let router: Router = {
    var router = Router()
    for pattern in [
      "/", "/versions", "/rooms/{roomID}", "/rooms/{roomID}/state/{type}/{key}", "/rooms/{roomID}/state/{type}/",
      "/rooms/mine", "/rooms/mine/leave", "/files/{path...}", "/files/special", "/a b"
    ] {
      router.on(.get, pattern) { request in
        .text(pattern + " " + request.parameters.values.joined(separator: "|"))
      }
    }
    router.on(.put, "/rooms/{roomID}") { _ in .text("put") }
    return router
  }()

  @Test(arguments: [
    ("/", "/ "), ("/versions", "/versions "), ("/versions?x=/rooms", "/versions "),
    ("/rooms/!a:b", "/rooms/{roomID} !a:b"), ("/rooms/%21a%3Ab%2Fc", "/rooms/{roomID} !a:b/c"),
    ("/rooms/mine", "/rooms/mine "), ("/rooms/%6Dine", "/rooms/mine "), ("/rooms/minx", "/rooms/{roomID} minx"),
    ("/rooms/mine/state/t/", "/rooms/{roomID}/state/{type}/ mine|t"),
    ("/rooms/r/state/t/k", "/rooms/{roomID}/state/{type}/{key} r|t|k"), ("/rooms/+", "/rooms/{roomID} +"),
    ("/files/special", "/files/special "), ("/files/", "/files/{path...} "), ("/files/a/b%20c", "/files/{path...} a/b c"),
    ("/a%20b", "/a b ")
  ])
  func `a path finds its pattern`(path: String, expected: String) async {
    let response = await Self.router.respond(to: Request(.get, path))
    guard case .bytes(let bytes) = response.body else { return #expect(Bool(false)) }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test(arguments: ["/Versions", "/versions/", "//", "/rooms", "/rooms/", "/rooms/r/state", "/filesx", "*", ""])
  func `what no pattern has is not found`(path: String) async {
    #expect(await Self.router.respond(to: Request(.get, path)).status == .notFound)
  }

  @Test(arguments: ["/rooms/%", "/rooms/%4", "/rooms/%zz", "/rooms/%ff", "/files/a/%c3%28"])
  func `a segment that does not decode to UTF-8 is a bad request`(path: String) async {
    #expect(await Self.router.respond(to: Request(.get, path)).status == .badRequest)
  }

  @Test func `another method is refused with those that would do`() async {
    let response = await Self.router.respond(to: Request(.delete, "/rooms/x"))
    #expect(response.status == .methodNotAllowed)
    #expect(response.headers["allow"] == "GET, HEAD, PUT")
    #expect(await Self.router.respond(to: Request(.head, "/rooms/x")).status == .ok)
  }

  private enum Name: ContextKey { typealias Value = String }
  private struct Failure: Error {}

  @Test func `middleware surrounds in order, sees errors as responses, and leaves values`() async {
    var router = Router { error, _ in .text("error", status: error is Failure ? 418 : 500) }
    router.use { request, next in
      var response = try await next(request)
      response.headers.add("Outer", String(response.status.code))
      return response
    }
    router.group(
      "/api",
      middleware: [
        { request, next in
          var request = request
          request.context[Name.self] = "alice"
          return try await next(request)
        }
      ]
    ) { api in
      api.on(.get, "/name") { .text($0.context[Name.self] ?? "nobody") }
      api.on(.get, "/fail") { _ in throw Failure() }
    }
    router.on(.get, "/name") { .text($0.context[Name.self] ?? "nobody") }

    let inner = await router.respond(to: Request(.get, "/api/name"))
    #expect(inner.headers["Outer"] == "200")
    if case .bytes(let bytes) = inner.body { #expect(bytes == Array("alice".utf8)) }
    if case .bytes(let bytes) = await router.respond(to: Request(.get, "/name")).body { #expect(bytes == Array("nobody".utf8)) }
    #expect(await router.respond(to: Request(.get, "/api/fail")).headers["Outer"] == "418")
    #expect(await router.respond(to: Request(.get, "/none")).headers["Outer"] == "404")
  }

  @Test func `query keys repeat, blanks are plus signs, and broken components are told`() {
    let query = Request(.get, "/x?a=1&a=%32&b=c+d&flag&=v&%zz=1&e=").query
    #expect(query.all("a") == ["1", "2"])
    #expect(query["b"] == "c d")
    #expect(query["flag"] == "")
    #expect(query["e"] == "")
    #expect(query["none"] == nil)
    #expect(query.isMalformed)
  }

  @Test func `headers compare without case and keep repetition`() {
    let request = Request(.get, "/", headers: [("X-One", "1"), ("x-two", "2"), ("X-ONE", "3")])
    #expect(request.headers["x-one"] == "1")
    #expect(request.headers.all("X-One") == ["1", "3"])
    #expect(request.headers["X-Three"] == nil)
  }
}
