import EventLoop
import HTTPServer
import JSON
import Synchronization

/// Another server on the loopback: a push gateway, a push service or an application service. It keeps what it is sent and answers as the test says.
final class PeerServer: Sendable {
  struct Call: Sendable {
    let method: String
    let path: String
    let query: [String: String]
    let authorization: String?
    /// `null` where the body is no JSON.
    let json: JSON
    let headers: [String: String]
    let body: [UInt8]
  }

  typealias Answerer = @Sendable (Call) async throws -> (status: UInt16, body: String)

  let port: UInt16
  private let calls = Mutex<[Call]>([])
  private let answerer = Mutex<Answerer>({ _ in (200, "{}") })
  /// Seconds that every answer asks to wait.
  let retryAfter = Mutex<Int?>(nil)
  private let server: HTTPServer
  private let loops: EventLoopGroup
  private let pool: BlockingPool

  var url: String { "http://127.0.0.1:\(port)" }

  private static let routes: [(Method, String)] = [
    (.post, "/_matrix/push/v1/notify"), (.post, "/resource/{id}"), (.put, "/_matrix/app/v1/transactions/{id}"),
    (.put, "/transactions/{id}"),
    (.get, "/_matrix/app/v1/users/{id}"), (.get, "/_matrix/app/v1/rooms/{id}"), (.post, "/_matrix/app/v1/ping"),
    (.get, "/_matrix/app/v1/thirdparty/protocol/{id}"), (.get, "/_matrix/app/v1/thirdparty/location/{id}"),
    (.get, "/_matrix/app/v1/thirdparty/user/{id}"), (.get, "/_matrix/app/v1/thirdparty/location"),
    (.get, "/_matrix/app/v1/thirdparty/user")
  ]

  private final class Handler: Sendable {
    let peer = Mutex<PeerServer?>(nil)
  }

  private init() async throws {
    let handler = Handler()
    var router = Router()
    for (method, path) in Self.routes {
      router.on(method, path, bodyLimit: 1 << 20) { request in
        guard let peer = handler.peer.withLock({ $0 }) else { return Response(status: Status(503)) }
        return try await peer.answer(request)
      }
    }
    loops = try EventLoopGroup(count: 1)
    pool = try BlockingPool(threads: 1)
    server = HTTPServer(
      configuration: HTTPServerConfiguration(bind: [.loopback]), router: router, loops: loops, pool: pool)
    try await server.start()
    port = server.boundAddresses[0].port
    handler.peer.withLock { $0 = self }
  }

  /// Runs a test beside such a server.
  static func run(_ body: (PeerServer) async throws -> Void) async throws {
    let peer = try await PeerServer()
    let result: Result<Void, any Error>
    do { result = .success(try await body(peer)) } catch { result = .failure(error) }
    await peer.server.shutdown(grace: .zero)
    await peer.loops.shutdown()
    await peer.pool.shutdown()
    try result.get()
  }

  /// What it answers from now on.
  func answers(_ answerer: @escaping Answerer) { self.answerer.withLock { $0 = answerer } }

  /// What it was sent since the last look.
  func take() -> [Call] {
    calls.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }

  private func answer(_ request: Request) async throws -> Response {
    let body = try await request.body.collect(upTo: 1 << 20)
    let call = Call(
      method: request.method.description, path: String(decoding: request.pathBytes, as: UTF8.self),
      query: Dictionary(
        request.query.items.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first }),
      authorization: request.headers.first("Authorization").map { String(decoding: $0, as: UTF8.self) },
      json: try (try? JSON.parse(body)) ?? JSON.parse(Array("null".utf8)),
      headers: Self.headers(of: request), body: body)
    calls.withLock { $0.append(call) }
    let (status, text) = try await answerer.withLock { $0 }(call)
    var headers: ResponseHeaders = ["Content-Type": "application/json"]
    if let seconds = retryAfter.withLock({ $0 }) { headers.add("Retry-After", "\(seconds)") }
    return Response(status: Status(Int(status)), headers: headers, body: .bytes(Array(text.utf8)))
  }

  /// Those of Web Push.
  private static func headers(of request: Request) -> [String: String] {
    var headers: [String: String] = [:]
    let names: [StaticString] = ["content-encoding", "ttl", "urgency", "topic"]
    for name in names {
      if let value = request.headers.first(name) { headers["\(name)"] = String(decoding: value, as: UTF8.self) }
    }
    return headers
  }
}
