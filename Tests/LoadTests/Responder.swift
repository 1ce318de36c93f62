import Glibc

/// A server of canned answers on a loopback port: on each connection it answers the requests in turn and closes after the last.
final class Responder: Sendable {
  let port: UInt16
  private let listener: Int32

  /// `answers`: what each connection says, request by request.
  init(answers: [String]) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        precondition(
          bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0)
      }
    }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Self.detach { [listener] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        Self.detach { Self.serve(connection, answers) }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func serve(_ connection: Int32, _ answers: [String]) {
    for answer in answers {
      var received: [UInt8] = []
      while !received.suffix(4).elementsEqual([13, 10, 13, 10]) {
        var byte: UInt8 = 0
        if recv(connection, &byte, 1, 0) != 1 { break }
        received.append(byte)
      }
      if received.isEmpty { break }
      let bytes = Array(answer.utf8)
      _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
    close(connection)
  }

  private static func detach(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    pthread_detach(thread)
  }
}
