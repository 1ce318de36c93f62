import EventLoop
import HTTPServer
import Synchronization

/// Runs a server on a free port of the loopback for the time of `body`.
///
/// `body` and its child tasks run on threads of their own: raw clients block, and would starve Swift's pool.
func withServer(
  _ router: Router, loops count: Int = 1, configure: (inout HTTPServerConfiguration) -> Void = { _ in },
  _ body: @Sendable (HTTPServer, SocketAddress) async throws -> Void
) async throws {
  let loops = try EventLoopGroup(count: count)
  let pool = try BlockingPool(threads: 1)
  let clients = try BlockingPool(threads: 2)
  var configuration = HTTPServerConfiguration(bind: [.loopback])
  configuration.lingerTimeout = .milliseconds(300)
  configure(&configuration)
  let server = HTTPServer(configuration: configuration, router: router, loops: loops, pool: pool)
  try await server.start()
  let result: Result<Void, any Error>
  do {
    try await withTaskExecutorPreference(clients) { try await body(server, server.boundAddresses[0]) }
    result = .success(())
  } catch {
    result = .failure(error)
  }
  await server.shutdown(grace: .zero)
  await loops.shutdown()
  await pool.shutdown()
  await clients.shutdown()
  try result.get()
}

/// One value that tests wait for.
final class Signal<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Value.self) }

  func send(_ value: Value) { continuation.yield(value) }

  func wait() async -> Value? {
    for await value in stream { return value }
    return nil
  }
}

extension Signal where Value == Void {
  func send() { send(()) }
}
