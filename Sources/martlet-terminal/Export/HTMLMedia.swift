import Glibc

/// Files in a page: small ones as data: URIs, the others by their path.
enum HTMLMedia {
  /// Bytes of a file that the page holds itself.
  static let embeddedBytesLimit: Int64 = 2 << 20

  static func isEmbedded(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size <= embeddedBytesLimit
  }

  /// What its first bytes say it is: a picture that cannot hold a script; nil for anything else.
  static func pictureType(_ path: String) -> String? {
    let start = firstBytes(of: path, count: 12)
    if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if start.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if start.starts(with: Array("GIF8".utf8)) { return "image/gif" }
    if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).starts(with: Array("WEBP".utf8)) { return "image/webp" }
    return nil
  }

  /// - Parameter path: of a file that is embedded.
  static func dataURI(_ path: String, type: String) throws(TerminalError) -> String {
    guard let file = fopen(path, "re") else { throw .failed("\(path) cannot be read: \(String(cString: strerror(errno)))") }
    defer { fclose(file) }
    var text: [UInt8] = Array("data:\(type);base64,".utf8)
    var buffer = [UInt8](repeating: 0, count: 3 << 14)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += base64(buffer[..<count])
    }
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// RFC 4648 §4, padded.
  static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes
    while !rest.isEmpty {
      let group = Array(rest.prefix(3))
      rest = rest.dropFirst(3)
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for i in 0..<4 { text.append(i <= group.count ? alphabet[bits >> (18 - 6 * i) & 63] : UInt8(ascii: "=")) }
    }
    return text
  }

  private static func firstBytes(of path: String, count: Int) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    return Array(bytes[..<max(0, read(file, &bytes, count))])
  }
}
