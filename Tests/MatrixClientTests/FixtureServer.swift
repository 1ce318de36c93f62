import Glibc
import Synchronization

/// An HTTP server of a few lines on a free port of the loopback: one thread a connection, answers by a closure.
final class FixtureServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    let headers: [String]
    let body: String
    let bodyBytes: Int
    let bytes: [UInt8]
  }

  let port: UInt16
  private let listener: Int32
  private let answer: @Sendable (Request) -> (status: Int, body: String)
  private let onClose: @Sendable () -> Void
  private let bytesLimit: Int?
  /// Those that are open; nil once it has stopped.
  private let connections = Mutex<Set<Int32>?>([])

  var url: String { "http://127.0.0.1:\(port)" }

  /// - Parameters:
  ///   - onClose: the other end has closed a connection.
  ///   - bytesLimit: of each answer, after which the connection ends; nil sends all and goes on.
  init(
    onClose: @escaping @Sendable () -> Void = {},
    bytesLimit: Int? = nil,
    answer: @escaping @Sendable (Request) -> (status: Int, body: String)
  ) {
    self.answer = answer
    self.onClose = onClose
    self.bytesLimit = bytesLimit
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        guard bind(listener, name, size) == 0, listen(listener, 16) == 0 else { return false }
        return getsockname(listener, name, &size) == 0
      }
    }
    precondition(bound, "no port for the fixture")
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    FixtureServer.thread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        FixtureServer.thread { [self] in serve(connection) }
      }
    }
  }

  /// Nothing is answered any more, on connections that are open either.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    connections.withLock { connections in
      for connection in connections ?? [] { shutdown(connection, Int32(SHUT_RDWR)) }
      connections = nil
    }
  }

  private func serve(_ connection: Int32) {
    connections.withLock { connections in
      if connections == nil { shutdown(connection, Int32(SHUT_RDWR)) } else { connections?.insert(connection) }
    }
    defer {
      connections.withLock { connections in
        _ = connections?.remove(connection)
        close(connection)
      }
      onClose()
    }
    var buffer: [UInt8] = []
    while let request = read(connection, &buffer) {
      let (status, body) = answer(request)
      let text =
        "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let bytes = Array(text.utf8.prefix(bytesLimit ?? .max))
      guard send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count, bytesLimit == nil else { return }
    }
  }

  private func read(_ connection: Int32, _ buffer: inout [UInt8]) -> Request? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let request = parse(&buffer) { return request }
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      buffer += chunk[..<count]
    }
  }

  private func parse(_ buffer: inout [UInt8]) -> Request? {
    let end = Array("\r\n\r\n".utf8)
    guard let head = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) else { return nil }
    let lines = buffer[..<head].split(separator: 13).map { String(decoding: $0.drop { $0 == 10 }, as: UTF8.self) }
    let length = lines.first { $0.hasPrefix("Content-Length:") }.flatMap { Int($0.dropFirst(16)) } ?? 0
    guard buffer.count >= head + 4 + length else { return nil }
    let words = lines[0].split(separator: " ").map(String.init)
    let bytes = Array(buffer[(head + 4)..<(head + 4 + length)])
    let body = String(decoding: bytes, as: UTF8.self)
    buffer.removeFirst(head + 4 + length)
    return Request(method: words[0], target: words[1], headers: lines, body: body, bodyBytes: length, bytes: bytes)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private static func thread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context)
    pthread_detach(thread)
  }
}
