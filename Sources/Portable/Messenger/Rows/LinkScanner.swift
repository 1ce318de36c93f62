/// Finds `http://` and `https://` addresses, addresses for mail and telephone numbers in plain text, byte by byte (so that text before them may be
/// anything), and where they are wanted hashtags and dates.
public enum LinkScanner {
  public struct Segment: Equatable, Sendable {
    public var text: String
    /// Where it leads; empty for plain text.
    public var url: String
    public var isLink: Bool { !url.utf8.isEmpty }
    /// A hashtag or a date: it leads to no address, but the host can do something with it.
    var isTerm: Bool { url.utf8.first == 0x23 || url.utf8.starts(with: "date:".utf8) }

    public static func == (a: Segment, b: Segment) -> Bool {
      a.url.hasSameBytes(as: b.url) && a.text.hasSameBytes(as: b.text)
    }
  }

  /// Whether an address has one of the schemes that only open something and never run anything here.
  public static func isSafe(_ url: String) -> Bool {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A) else { return false }
    var scheme = Array(bytes[..<colon])
    // Lower case; no scheme has a character that this makes another one of.
    for index in scheme.indices { scheme[index] |= 0x20 }
    for safe in safeSchemes where Array(safe.utf8) == scheme { return true }
    return false
  }

  /// Whether a text is, or begins with, the address of a page on another host than the one it leads to.
  static func isDeceptive(_ text: String, for url: String) -> Bool {
    guard let pieces = segments(of: text), let shown = pieces.first(where: { $0.isLink }) else { return false }
    if !pieces[0].isLink, pieces[0].text.utf8.contains(where: isWord) { return false }
    guard let host = host(shown.url) else { return false }
    return !host.elementsEqual(self.host(url) ?? [])
  }

  /// Of an address with slashes behind its scheme, with user and port where it has them; in lower case.
  private static func host(_ url: String) -> [UInt8]? {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A) else { return nil }
    let rest = bytes[(colon + 1)...]
    guard rest.starts(with: [0x2F, 0x2F]) else { return nil }
    var host: [UInt8] = []
    for byte in rest.dropFirst(2) {
      // / ? # \
      if byte == 0x2F || byte == 0x3F || byte == 0x23 || byte == 0x5C { break }
      host.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
    }
    return host
  }

  private static let safeSchemes = ["https", "http", "mailto", "tel", "matrix", "geo", "ftp", "magnet", "sms", "xmpp", "irc"]

  /// The text in pieces; nil when it has no link, which is the common case.
  /// - Parameter findsTerms: hashtags, whose `url` is what stands there, and dates, whose `url` is `date:2026-11-27` or
  ///   `date:2026-11-27T14:30`, are links as well.
  public static func segments(of text: String, findsTerms: Bool = false) -> [Segment]? {
    var text = text
    return text.withUTF8 { bytes in
      var segments: [Segment] = []
      var plainStart = 0
      var position = 0
      while position < bytes.count {
        guard let found = link(bytes, position, from: plainStart, findsTerms) else {
          position += 1
          continue
        }
        let start = found.range.lowerBound
        if plainStart < start { segments.append(Segment(text: string(bytes, plainStart..<start), url: "")) }
        segments.append(Segment(text: string(bytes, found.range), url: found.url))
        plainStart = found.range.upperBound
        position = plainStart
      }
      guard !segments.isEmpty else { return nil }
      if plainStart < bytes.count {
        segments.append(Segment(text: string(bytes, plainStart..<bytes.count), url: ""))
      }
      return segments
    }
  }

  typealias Bytes = UnsafeBufferPointer<UInt8>

  struct Found {
    var range: Range<Int>
    var url: String
  }

  /// What is told by the byte at `position`; it may begin before that, but not before `start`.
  private static func link(_ bytes: Bytes, _ position: Int, from start: Int, _ findsTerms: Bool) -> Found? {
    switch bytes[position] {
    case 0x48, 0x68: return linkEnd(bytes, position).map { found(bytes, position..<$0) }
    case 0x2B: return phoneEnd(bytes, position).map { phone(bytes, position..<$0) }
    case 0x40: return mailAddress(bytes, at: position, from: start).map { found(bytes, $0, "mailto:") }
    case 0x23 where findsTerms: return tagEnd(bytes, position).map { found(bytes, position..<$0) }
    case 0x30...0x39:
      if findsTerms, let date = date(bytes, position, from: start) { return date }
      fallthrough
    case 0x28: return localPhoneEnd(bytes, position).map { phone(bytes, position..<$0) }
    default: return nil
    }
  }

  private static func found(_ bytes: Bytes, _ range: Range<Int>, _ scheme: String = "") -> Found {
    Found(range: range, url: scheme + string(bytes, range))
  }

  static func string(_ bytes: Bytes, _ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// The address around the `@` at `at`, nothing before `start` in it. The server's name has a dot and ends with letters.
  private static func mailAddress(_ bytes: Bytes, at: Int, from start: Int) -> Range<Int>? {
    var first = at
    while first > max(start, at - 64), isMailByte(bytes[first - 1]) { first -= 1 }
    while first < at, !isWord(bytes[first]) { first += 1 }
    guard first < at, first == start || bytes[first - 1] != 0x40 && bytes[first - 1] < 0x80 else { return nil }
    var (end, dot) = (at + 1, at)
    while end < bytes.count, isWord(bytes[end]) || bytes[end] == 0x2D || bytes[end] == 0x2E {
      if bytes[end] == 0x2E {
        // No label is empty.
        guard end > dot + 1 else { return nil }
        if end + 1 == bytes.count || !isWord(bytes[end + 1]) { break }
        dot = end
      }
      end += 1
    }
    guard dot > at, end > dot + 2 else { return nil }
    for byte in bytes[(dot + 1)..<end] where byte < 0x41 { return nil }
    return first..<end
  }

  private static func isMailByte(_ byte: UInt8) -> Bool {
    isWord(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x25
  }

  // MARK: Addresses of pages

  /// The end of a link that begins at `start`.
  private static func linkEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard start == 0 || !isWord(bytes[start - 1]) else { return nil }
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
    // Before it looks for the end: what is no link is looked at again from its next letter on.
    guard host < bytes.count, isWord(bytes[host]) || bytes[host] == 0x5B || bytes[host] >= 0x80 else { return nil }
    while position < bytes.count, isLinkByte(bytes[position]) { position += 1 }
    return trimmed(bytes, host, position)
  }

  /// Without the punctuation that closes a sentence; a closing bracket stays when it was opened inside.
  private static func trimmed(_ bytes: Bytes, _ start: Int, _ end: Int) -> Int {
    var (end, depth) = (end, 0)
    for byte in bytes[start..<end] { depth += byte == 0x28 ? 1 : byte == 0x29 ? -1 : 0 }
    while end > start {
      switch bytes[end - 1] {
      case 0x2E, 0x2C, 0x3B, 0x3A, 0x21, 0x3F, 0x27, 0x2A, 0x5F, 0x7E: end -= 1
      case 0x29:
        if depth >= 0 { return end }
        depth += 1
        end -= 1
      default: return end
      }
    }
    return end
  }

  static func isWord(_ byte: UInt8) -> Bool {
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
