import Glibc

/// Reads lines from a socket. Blocks.
struct SocketLines {
  private let descriptor: Int32
  private let limit: Int
  private var bytes: [UInt8] = []

  /// - Parameter limit: of the bytes of a line.
  init(_ descriptor: Int32, limit: Int) {
    self.descriptor = descriptor
    self.limit = limit
  }

  /// Without its end; nil once the other side has gone, or for a line that is too long.
  mutating func next() -> [UInt8]? {
    var searched = 0
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeFirst(end + 1) }
        return Array(bytes[..<end])
      }
      searched = bytes.count
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0, bytes.count + count <= limit else { return nil }
      bytes += buffer[..<count]
    }
  }
}
