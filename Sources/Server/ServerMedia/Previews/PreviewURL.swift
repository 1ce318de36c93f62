import JSON
import MatrixModel
import ServerCore

/// The address of a page that somebody wants to know about, in the form that is fetched and remembered.
package struct PreviewURL: Sendable {
  /// Bytes of an address.
  static let bytesLimit = 4_096

  /// Scheme and host in lower case, no fragment, everything beyond ASCII percent-encoded.
  package let text: String

  /// Throws `M_INVALID_PARAM` for what is no http or https URL.
  package init(_ url: ByteString) throws(MatrixError) {
    guard !url.isEmpty, url.count <= Self.bytesLimit else {
      throw .invalidParameter("'url' has 1 to \(Self.bytesLimit) bytes.")
    }
    let page = url.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard page.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw .invalidParameter("'url' has blanks or control characters in it.")
    }
    var bytes: [UInt8] = []
    for byte in page {
      if byte < 0x80 { bytes.append(byte) } else { bytes += "%\(String(byte, radix: 16, uppercase: true))".utf8 }
    }
    guard let end = Self.endOfHost(bytes) else {
      throw .invalidParameter("'url' is not the address of a page: it begins with http:// or https:// and a host.")
    }
    for index in 0..<end where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) { bytes[index] |= 0x20 }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Where scheme and host end; nil without them.
  private static func endOfHost(_ bytes: [UInt8]) -> Int? {
    let start: Int
    let scheme = bytes.prefix(8).map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    if scheme.starts(with: "https://".utf8) {
      start = 8
    } else if scheme.starts(with: "http://".utf8) {
      start = 7
    } else {
      return nil
    }
    let end = bytes[start...].firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?")].contains($0) } ?? bytes.count
    return end > start ? end : nil
  }

  /// Whether one of the operator's patterns (`*` for any bytes) takes in the address.
  package func isDenied(by patterns: [String]) -> Bool {
    patterns.contains { StarPattern.matches(ByteString(text), ByteString($0)) }
  }
}
