import Glibc
import Synchronization

/// A server on a free port of 127.0.0.1 whose connections a test speaks for, each on a thread of its own.
package final class LoopbackServer: Sendable {
  /// One accepted connection, read and written with blocking calls.
  package struct Connection: Sendable {
    let descriptor: Int32

    /// Up to 64 KB, or nothing at the end.
    package func read() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return count > 0 ? Array(bytes[..<count]) : []
    }

    /// Bytes until the text has come, or the end.
    package func read(until end: String) -> String {
      var bytes: [UInt8] = []
      while !String(decoding: bytes, as: UTF8.self).utf8.contains(end.utf8) {
        let more = read()
        if more.isEmpty { break }
        bytes += more
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// False once the other side has gone.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Returns when the other side has closed.
    package func waitForEnd() { while !read().isEmpty {} }
  }

  package let port: Int
  private let listener: Int32
  private let seen = Mutex<[String]>([])

  /// What connections have noted, in order.
  package var notes: [String] { seen.withLock { $0 } }
  package func note(_ text: String) { seen.withLock { $0.append(text) } }

  private let speak: @Sendable (LoopbackServer, Connection) -> Void

  /// - Parameter address: of this machine, 127.0.0.1 unless another one of 127.0.0.0/8.
  package init(at address: UInt32 = 0x7F00_0001, _ speak: @escaping @Sendable (LoopbackServer, Connection) -> Void) {
    self.speak = speak
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let host = address
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    var count = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, count) == 0 && listen(listener, 64) == 0 && getsockname(listener, pointer, &count) == 0
      }
    }
    precondition(bound, "no port for the test")
    port = Int(UInt16(bigEndian: address.sin_port))
    Self.onThread { [self] in accept() }
  }

  /// Stops accepting; connections end with what the test says to them.
  package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  private func accept() {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      Self.onThread { [self] in
        speak(self, Connection(descriptor: descriptor))
        Glibc.close(descriptor)
      }
    }
    Glibc.close(listener)
  }

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Work(body)).toOpaque())
    pthread_detach(thread)
  }
}
