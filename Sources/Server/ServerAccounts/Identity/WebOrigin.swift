/// Where a URL leads to, as far as trust goes: scheme, host and port of a web page (RFC 6454 §4), or the scheme alone for an
/// application on the reader's machine.
package struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  /// `https://app.example.org`, `http://localhost:8080`, `element:`. As it is in a Content-Security-Policy.
  package let description: String

  /// Bytes of a URL that is looked at.
  package static let urlBytesLimit = 4_096

  /// Schemes that make the browser itself do something, instead of asking a server or opening an application.
  private static let forbiddenSchemes = [
    "about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source", "ws", "wss"
  ]

  /// From a whole URL. nil for relative and malformed ones, for those with a user name in it, and for those that no reader
  /// must be sent to.
  package init?(of url: String) {
    let bytes = Array(url.utf8)
    // A backslash is a slash to browsers; others are no part of a URL.
    guard bytes.count <= Self.urlBytesLimit, bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let scheme = Self.scheme(bytes[..<colon]),
      !Self.forbiddenSchemes.contains(scheme)
    else { return nil }
    guard scheme == "https" || scheme == "http" else {
      description = scheme + ":"
      return
    }
    let rest = bytes[(colon + 1)...]
    guard rest.starts(with: "//".utf8) else { return nil }
    let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
    guard let host = Self.authority(authority, defaultPort: scheme == "https" ? "443" : "80") else { return nil }
    description = scheme + "://" + host
  }

  private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return nil }
    let isScheme = text.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    return isScheme ? text : nil
  }

  private static func authority(_ bytes: ArraySlice<UInt8>, defaultPort: String) -> String? {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    guard !text.isEmpty, text.utf8.allSatisfy({ isLetterOrDigit($0) || "-.:[]_".utf8.contains($0) }) else { return nil }
    var (host, port) = (text[...], Substring())
    if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
      (host, port) = (text[..<colon], text[colon...].dropFirst())
      guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), port.utf8.count <= 5 else { return nil }
    }
    let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
    guard !host.isEmpty, isAddress || !host.contains(where: { $0 == ":" || $0 == "[" || $0 == "]" }) else { return nil }
    return port.isEmpty || port == defaultPort ? String(host) : "\(host):\(port)"
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A: true
    default: false
    }
  }
}
