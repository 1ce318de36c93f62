/// Finds `http://` and `https://` addresses in plain text, byte by byte (so that text before them may be anything).
public enum LinkScanner {
  public struct Segment: Equatable, Sendable {
    public var text: String
    public var isLink: Bool

    public static func == (a: Segment, b: Segment) -> Bool { a.isLink == b.isLink && a.text.hasSameBytes(as: b.text) }
  }

  /// The text in pieces; nil when it has no link, which is the common case.
  public static func segments(of text: String) -> [Segment]? {
    var text = text
    return text.withUTF8 { bytes in
      var segments: [Segment] = []
      var plainStart = 0
      var position = 0
      while position < bytes.count {
        guard let end = linkEnd(bytes, position) else {
          position += 1
          continue
        }
        if plainStart < position { segments.append(Segment(text: string(bytes, plainStart..<position), isLink: false)) }
        segments.append(Segment(text: string(bytes, position..<end), isLink: true))
        plainStart = end
        position = end
      }
      guard !segments.isEmpty else { return nil }
      if plainStart < bytes.count {
        segments.append(Segment(text: string(bytes, plainStart..<bytes.count), isLink: false))
      }
      return segments
    }
  }

  private static func string(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// The end of a link that begins at `start`.
  private static func linkEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard bytes[start] | 0x20 == 0x68, start == 0 || !isWord(bytes[start - 1]) else { return nil }
    var position = start
    for letter in StaticBytes.http {
      guard position < bytes.count, bytes[position] | 0x20 == letter else { return nil }
      position += 1
    }
    if position < bytes.count, bytes[position] | 0x20 == 0x73 { position += 1 }
    for letter in StaticBytes.separator {
      guard position < bytes.count, bytes[position] == letter else { return nil }
      position += 1
    }
    let host = position
    while position < bytes.count, isLinkByte(bytes[position]) { position += 1 }
    position = trimmed(bytes, host, position)
    guard position > host, isWord(bytes[host]) || bytes[host] == 0x5B || bytes[host] >= 0x80 else { return nil }
    return position
  }

  /// Without the punctuation that closes a sentence; a closing bracket stays when it was opened inside.
  private static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int {
    var end = end
    while end > start {
      switch bytes[end - 1] {
      case 0x2E, 0x2C, 0x3B, 0x3A, 0x21, 0x3F, 0x27, 0x2A, 0x5F, 0x7E: end -= 1
      case 0x29:
        var depth = 0
        for byte in bytes[start..<end] { depth += byte == 0x28 ? 1 : byte == 0x29 ? -1 : 0 }
        if depth >= 0 { return end }
        end -= 1
      default: return end
      }
    }
    return end
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
  }

  /// No space, control, quote, angle bracket, brace or backtick.
  private static func isLinkByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x60, 0x7B, 0x7C, 0x7D, 0x7F: false
    default: true
    }
  }

  private enum StaticBytes {
    static let http: [UInt8] = [0x68, 0x74, 0x74, 0x70]
    static let separator: [UInt8] = [0x3A, 0x2F, 0x2F]
  }
}
