import JSON

/// `hostname[:port]`: a DNS name, an IPv4 address or an IPv6 address in brackets.
///
/// Spec: Appendices, "Server Name".
public struct ServerName: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    text.withBytes { accepts($0[...]) }
  }

  /// Bytes of the whole name; leaves room for a sigil and a localpart in 255 bytes.
  static let bytesLimit = 253

  static func accepts(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard !bytes.isEmpty, bytes.count <= bytesLimit else { return false }
    var rest = bytes
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = bytes[(bytes.startIndex + 1)..<close]
      guard address.count >= 2, address.count <= 45, address.allSatisfy(isIPv6) else { return false }
      rest = bytes[(close + 1)...]
    } else {
      let host = bytes.prefix { isHost($0) }
      guard !host.isEmpty else { return false }
      rest = bytes[host.endIndex...]
    }
    guard !rest.isEmpty else { return true }
    let port = rest.dropFirst()
    return rest.first == UInt8(ascii: ":") && (1...5).contains(port.count) && port.allSatisfy { $0 &- 0x30 < 10 }
  }

  private static func isHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  private static func isIPv6(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: ":"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
