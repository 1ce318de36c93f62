import Glibc

/// A socket in a folder, through which programs of its owner reach the one that uses the folder.
package struct UnixSocket: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let folder: String
  package let name: String

  package init(_ name: String, in folder: String) {
    self.folder = folder
    self.name = name
  }

  package var path: String { folder + "/" + name }

  /// A descriptor that listens, for the owner only.
  package func listen() throws(Failure) -> Int32 {
    unlink(path)
    let descriptor = try Self.made()
    guard withAddress({ bind(descriptor, $0, $1) }) == 0,
      // Before anyone can connect: nobody may until `listen`.
      chmod(path, 0o600) == 0, Glibc.listen(descriptor, 16) == 0
    else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw Failure(description: "cannot listen on \(path): \(reason)")
    }
    return descriptor
  }

  /// A connection to who listens; nil while nobody does.
  package func connect() throws(Failure) -> Int32? {
    let descriptor = try Self.made()
    if withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
    let code = errno
    close(descriptor)
    if code == ENOENT || code == ECONNREFUSED { return nil }
    throw Failure(description: "cannot connect to \(path): \(String(cString: strerror(code)))")
  }

  /// Everything until the other side has said its all; nil where that is more than `limit` bytes or takes too long.
  package static func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
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
  package static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Waits until the other side says something or has gone, or the time of `limitWaits` is over, and says whether it has gone.
  package static func isGone(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = read(descriptor, &byte, 1)
    return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
  }

  /// Ends waits for a client that says or takes nothing.
  package static func limitWaits(_ descriptor: Int32, seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  private static func made() throws(Failure) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket can be made: \(String(cString: strerror(errno)))") }
    return descriptor
  }

  /// The address by way of the open folder: a path may be longer than the 107 bytes that an address has (unix(7)).
  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
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
