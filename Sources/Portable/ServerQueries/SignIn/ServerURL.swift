import JSON
import MatrixModel

/// The base URL of a server: `http` or `https`, a host, maybe a port and a path; no user, query, fragment or slash at the end.
///
/// The paths of the API are appended to it. Spec: Client-Server API, "Well-known URIs".
public struct ServerURL: Hashable, Sendable, CustomStringConvertible {
  public let text: ByteString

  static let bytesLimit = 2_048

  /// Slashes at the end are left out; nil where the text is no such URL.
  public init?(_ text: ByteString) {
    var bytes = Array(text.utf8)
    while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard bytes.count <= Self.bytesLimit, let scheme = Self.schemeLength(bytes) else { return nil }
    let rest = bytes[scheme...]
    let host = rest.prefix { $0 != UInt8(ascii: "/") }
    guard ServerName.accepts(ByteString(decoding: host)), rest.dropFirst(host.count).allSatisfy(Self.isPath) else {
      return nil
    }
    self.text = ByteString(decoding: bytes)
  }

  public init?(_ text: String) { self.init(ByteString(text)) }

  public var string: String { text.string }
  public var description: String { text.string }

  /// Whether it begins as a URL does, rather than being a name.
  static func hasScheme(_ text: ByteString) -> Bool { schemeLength(Array(text.utf8)) != nil }

  /// Bytes of `http://` or `https://`, whatever the case.
  private static func schemeLength(_ bytes: [UInt8]) -> Int? {
    let lower = bytes.prefix(8).map { (65...90).contains($0) ? $0 + 32 : $0 }
    if lower.starts(with: "https://".utf8) { return 8 }
    return lower.starts(with: "http://".utf8) ? 7 : nil
  }

  /// Printable ASCII but for what ends a path or has no place in a URL.
  private static func isPath(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      false
    default: byte > 32 && byte < 127
    }
  }
}
