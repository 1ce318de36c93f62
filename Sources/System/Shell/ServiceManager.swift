import Glibc

/// The service manager that started this process and wants to know how it is: systemd with `Type=notify` (sd_notify(3)).
package struct ServiceManager: Sendable {
  package enum State: String, Sendable {
    case ready = "READY=1"
    case stopping = "STOPPING=1"
  }

  private let socketPath: [UInt8]

  /// Takes the socket from `NOTIFY_SOCKET`: a path, or after `@` an abstract name. nil if it is not set or not valid.
  package init?(environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"].map({ Array($0.utf8) }) else { return nil }
    let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    guard path.first == 0x2F || path.first == 0x40, path.count > 1, path.count < limit else { return nil }
    socketPath = path.first == 0x40 ? [0] + path.dropFirst() : path
  }

  /// Sends the state as one datagram. A manager that does not listen is not an error of the service.
  package func tell(_ state: State) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath) }
    let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + socketPath.count
    let message = Array(state.rawValue.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
  }
}
