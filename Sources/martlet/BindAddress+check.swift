import Glibc

extension BindAddress {
  /// Checks that the server can listen on the address. Throws `address` with `setting` if the port is in use or needs privileges, or if the
  /// host is not an address of this machine.
  ///
  /// The server's own sockets share their port (SO_REUSEPORT), even with a second server. The socket of this check does not, so it fails if
  /// another server has the port.
  func checkUsable(setting: String) throws(StartError) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &found)
    guard code == 0, let first = found else {
      throw .address(setting: setting, self, reason: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(first) }
    let file = socket(first.pointee.ai_family, first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard file >= 0 else { throw .address(setting: setting, self, reason: String(cString: strerror(errno))) }
    defer { close(file) }
    var on: Int32 = 1
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard Glibc.bind(file, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0, listen(file, 1) == 0 else {
      throw .address(setting: setting, self, reason: String(cString: strerror(errno)))
    }
  }
}
