import EventLoop
import Glibc
import Shell
import Telemetry

/// Lets the operator's commands call the running server: only the owner of the data folder can open `admin.sock` in it.
///
/// One call a connection: the client writes it and closes its side, the server writes the status, a line feed and the body.
final class AdminSocket: Sendable {
  private static let waitSeconds = 30

  static func address(in folder: String) -> UnixSocket { UnixSocket("admin.sock", in: folder) }

  private let descriptor: Int32
  private let path: String
  private let acceptor: BlockingPool
  private let calls: OperatorCalls
  private let pool: BlockingPool

  /// nil, with a line in the log, where the folder cannot hold a socket: users are served all the same.
  static func open(in folder: String, _ calls: OperatorCalls, pool: BlockingPool) -> AdminSocket? {
    do {
      return try AdminSocket(in: folder, calls, pool: pool)
    } catch {
      Log("admin").warning("commands cannot reach this server while it runs", ["error": .text("\(error)")])
      return nil
    }
  }

  /// - Parameter pool: reads and writes; the caller's.
  init(in folder: String, _ calls: OperatorCalls, pool: BlockingPool) throws {
    self.calls = calls
    self.pool = pool
    path = Self.address(in: folder).path
    acceptor = try BlockingPool(threads: 1, name: "admin")
    descriptor = try Self.address(in: folder).listen()
    Task { try? await acceptor.run { [self] in accept() } }
  }

  /// Takes no more calls. The file goes too, so that commands see at once that nobody listens.
  func close() async {
    unlink(path)
    // Wakes accept(2) with an error.
    shutdown(descriptor, Int32(SHUT_RDWR))
    await acceptor.shutdown()
    Glibc.close(descriptor)
  }

  private func accept() {
    while true {
      let client = Glibc.accept(descriptor, nil, nil)
      if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
      if client < 0, errno == EMFILE || errno == ENFILE {
        usleep(10_000)
        continue
      }
      guard client >= 0 else { return }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      UnixSocket.limitWaits(client, seconds: Self.waitSeconds)
      Task { await serve(client) }
    }
  }

  private func serve(_ client: Int32) async {
    defer { Glibc.close(client) }
    let read = try? await pool.run { UnixSocket.readAll(client, limit: OperatorCalls.callBytesLimit) }
    guard let bytes = read ?? nil, let call = OperatorCalls.Call(bytes) else { return }
    let answer = await calls.answer(call)
    _ = try? await pool.run { UnixSocket.writeAll(client, Array("\(answer.status)\n".utf8) + answer.body) }
  }
}
