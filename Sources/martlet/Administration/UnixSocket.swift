import Glibc

/// The socket in the data folder, through which commands reach the server that uses the folder.
enum UnixSocket {
  static let name = "admin.sock"

  /// A socket that listens in `folder`, for its owner only. Throws `failed`.
  static func listen(in folder: String) throws(StartError) -> Int32 {
    unlink(folder + "/" + name)
    let descriptor = try made()
    guard withAddress(in: folder, { bind(descriptor, $0, $1) }) == 0,
      // Before anyone can connect: nobody may until `listen`.
      chmod(folder + "/" + name, 0o600) == 0, Glibc.listen(descriptor, 16) == 0
    else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw .failed("cannot listen on \(folder)/\(name): \(reason)")
    }
    return descriptor
  }

  /// A connection to who listens in `folder`; nil while nobody does. Throws `failed`.
  static func connect(in folder: String) throws(StartError) -> Int32? {
    let descriptor = try made()
    if withAddress(in: folder, { Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
    let code = errno
    close(descriptor)
    if code == ENOENT || code == ECONNREFUSED { return nil }
    throw .failed("cannot reach the server through \(folder)/\(name): \(String(cString: strerror(code)))")
  }

  /// Everything until the other side has said its all; nil where that is more than `limit` bytes or takes too long.
  static func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= limit else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Whether all was taken.
  @discardableResult
  static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Ends waits for a client that says or takes nothing.
  static func limitWaits(_ descriptor: Int32, seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  private static func made() throws(StartError) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .failed("no socket can be made: \(String(cString: strerror(errno)))") }
    return descriptor
  }

  /// The address by way of the open folder: a path may be longer than the 107 bytes that an address has (unix(7)).
  private static func withAddress(
    in folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    let opened = open(folder, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { return -1 }
    defer {
      let code = errno
      close(opened)
      errno = code
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/proc/self/fd/\(opened)/\(name)".utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
