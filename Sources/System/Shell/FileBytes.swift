import Glibc

/// Whole files that an operator names, small ones.
package enum FileBytes {
  package struct Unreadable: Error {
    package let reason: String
  }

  /// Throws for one that cannot be read or has more than `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(Unreadable) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, $0.count - count) }
      guard got >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
      if got == 0 { break }
      count += got
    }
    guard count <= limit else { throw Unreadable(reason: "it is larger than \(limit) bytes") }
    return Array(bytes[..<count])
  }
}
