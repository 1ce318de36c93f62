import EventLoop
import HTTPServer
import JSON
import Synchronization

/// Runs a server on a free port of the loopback for the time of `body`, which gets the port.
func withLoopbackServer(_ router: Router, _ body: (UInt16) async throws -> Void) async throws {
  let loops = try EventLoopGroup(count: 1)
  let pool = try BlockingPool(threads: 1)
  let server = HTTPServer(
    configuration: HTTPServerConfiguration(bind: [.loopback]), router: router, loops: loops, pool: pool)
  try await server.start()
  let result: Result<Void, any Error>
  do { result = .success(try await body(server.boundAddresses[0].port)) } catch { result = .failure(error) }
  await server.shutdown(grace: .zero)
  await loops.shutdown()
  await pool.shutdown()
  try result.get()
}

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

  private init(port: UInt16) { self.port = port }

  /// Runs a test beside such a server.
  static func run(_ body: (PeerServer) async throws -> Void) async throws {
    let handler = Handler()
    var router = Router()
    for (method, path) in routes {
      router.on(method, path, bodyLimit: 1 << 20) { request in
        guard let peer = handler.peer.withLock({ $0 }) else { return Response(status: Status(503)) }
        return try await peer.answer(request)
      }
    }
    try await withLoopbackServer(router) { port in
      let peer = PeerServer(port: port)
      handler.peer.withLock { $0 = peer }
      try await body(peer)
    }
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
