/// What a URL must be before libcurl sees it, which then checks the rest.
enum OutgoingURL {
  static let bytesLimit = 8_192

  /// Whether the text is ASCII without spaces and control characters, of at most `bytesLimit` bytes, and http or https.
  static func isAcceptable(_ url: String) -> Bool {
    let bytes = url.utf8
    guard bytes.count <= bytesLimit, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
    let start = url.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
  }
}

/// Spec: RFC 9110 §5.
enum HeaderText {
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Without line breaks and other control characters.
  static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
}
