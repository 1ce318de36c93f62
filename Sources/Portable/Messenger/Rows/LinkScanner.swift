/// Finds `http://` and `https://` addresses, addresses for mail and international telephone numbers in plain text, byte by byte (so that text before
/// them may be anything), and where they are wanted hashtags and dates.
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
        let (start, text) = (found.lowerBound, string(bytes, found))
        if plainStart < start { segments.append(Segment(text: string(bytes, plainStart..<start), url: "")) }
        segments.append(Segment(text: text, url: url(bytes, position, found, text)))
        plainStart = found.upperBound
        position = found.upperBound
      }
      guard !segments.isEmpty else { return nil }
      if plainStart < bytes.count {
        segments.append(Segment(text: string(bytes, plainStart..<bytes.count), url: ""))
      }
      return segments
    }
  }

  /// What is told by the byte at `position`.
  private static func link(
    _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int, from start: Int, _ findsTerms: Bool
  ) -> Range<Int>? {
    var end: Int?
    switch bytes[position] {
    case 0x48, 0x68: end = linkEnd(bytes, position)
    case 0x2B: end = phoneEnd(bytes, position)
    case 0x40: return mailAddress(bytes, at: position, from: start)
    case 0x23 where findsTerms: end = tagEnd(bytes, position)
    case 0x31, 0x32: end = findsTerms ? dateEnd(bytes, position) : nil
    default: break
    }
    return end.map { position..<$0 }
  }

  private static func url(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int, _ range: Range<Int>, _ text: String) -> String {
    switch bytes[position] {
    case 0x40: return "mailto:" + text
    case 0x2B: return "tel:" + digits(bytes, range)
    case 0x31, 0x32:
      var moment = Array(text.utf8)
      if moment.count > 10 { moment[10] = 0x54 }
      return "date:" + String(decoding: moment, as: UTF8.self)
    default: return text
    }
  }

  private static func string(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// The address around the `@` at `at`, nothing before `start` in it. The server's name has a dot and ends with letters.
  private static func mailAddress(_ bytes: UnsafeBufferPointer<UInt8>, at: Int, from start: Int) -> Range<Int>? {
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

  /// The end of a number such as `+49 30 1234-567` that begins at `start`: 8 to 15 digits. Source: ITU-T E.164.
  private static func phoneEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard start == 0 || !isWord(bytes[start - 1]) else { return nil }
    var (position, count, end) = (start + 1, 0, start)
    while position < bytes.count {
      switch bytes[position] {
      case 0x30...0x39:
        count += 1
        end = position + 1
      case 0x20, 0x28, 0x29, 0x2D, 0x2E, 0x2F:
        // Two separators in a row end it, but for "(".
        if end < position, bytes[position] == bytes[position - 1] { return ended() }
      default: return ended()
      }
      position += 1
    }
    func ended() -> Int? { count >= 8 && count <= 15 && (end == bytes.count || !isWord(bytes[end])) ? end : nil }
    return ended()
  }

  private static func digits(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
    var digits: [UInt8] = [0x2B]
    for byte in bytes[range] where byte >= 0x30 && byte <= 0x39 { digits.append(byte) }
    return String(decoding: digits, as: UTF8.self)
  }

  // MARK: Hashtags and dates

  /// The end of a tag such as `#Größe_2`, at the beginning of a word: letters of any script, digits and `_`, a letter among them.
  /// What a server's name follows is the address of a room.
  private static func tagEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard start == 0 || mayComeBeforeTerm(bytes, start) else { return nil }
    var (end, hasLetter) = (start + 1, false)
    while end < bytes.count {
      let (value, next) = scalar(bytes, end)
      let isDigit = value >= 0x30 && value <= 0x39
      guard isDigit || value == 0x5F || isLetter(value) else { break }
      hasLetter = hasLetter || !isDigit && value != 0x5F
      end = next
    }
    if end + 1 < bytes.count, bytes[end] == 0x3A, isWord(bytes[end + 1]) || bytes[end + 1] == 0x5B { return nil }
    return hasLetter && (end == bytes.count || bytes[end] != 0x23) ? end : nil
  }

  /// Space, punctuation, or a letter's end that is none, such as `。`.
  private static func mayComeBeforeTerm(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
    let byte = bytes[position - 1]
    if byte >= 0x80 {
      var first = position - 1
      while first > 0, bytes[first] & 0xC0 == 0x80 { first -= 1 }
      return !isLetter(scalar(bytes, first).value)
    }
    switch byte {
    // # % & + - . / : = @ _
    case 0x23, 0x25, 0x26, 0x2B, 0x2D, 0x2E, 0x2F, 0x3A, 0x3D, 0x40, 0x5F: return false
    default: return !isWord(byte)
    }
  }

  /// A scalar of valid UTF-8, and where the next one begins.
  private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> (value: UInt32, next: Int) {
    let first = bytes[start]
    guard first >= 0xC0 else { return (UInt32(first), start + 1) }
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for byte in bytes[(start + 1)..<min(start + count, bytes.count)] { value = value << 6 | UInt32(byte & 0x3F) }
    return (value, min(start + count, bytes.count))
  }

  /// By blocks, which need no tables: signs that stand among letters count as some.
  private static func isLetter(_ value: UInt32) -> Bool {
    switch value {
    case 0x41...0x5A, 0x61...0x7A, 0xAA, 0xB5, 0xBA: true
    // Multiplication, division; Greek, Armenian, Hebrew, Arabic and Indian punctuation.
    case 0xD7, 0xF7, 0x37E, 0x387, 0x55A...0x55F, 0x589...0x58A, 0x5BE, 0x5C0, 0x5C3, 0x5F3...0x5F4: false
    case 0x600...0x60F, 0x61B...0x61F, 0x66A...0x66D, 0x6D4, 0x964...0x965: false
    case 0xC0...0x1FFF: true
    // The joiners that Persian and Indian words are written with.
    case 0x200C, 0x200D: true
    // Ideographic punctuation, brackets, the dot between words.
    case 0x3000...0x3004, 0x3008...0x3020, 0x3030, 0x303D, 0x30FB: false
    case 0x2E80...0xD7FF, 0xF900...0xFDFF, 0xFE70...0xFEFE: true
    // In full width.
    case 0xFF10...0xFF19, 0xFF21...0xFF3A, 0xFF41...0xFF5A, 0xFF66...0xFFDC: true
    case 0x10000...0x1CFFF, 0x20000...0x3FFFF: true
    default: false
    }
  }

  /// The end of a date of this or the neighbouring centuries such as `2026-11-27` or `2026-11-27 14:30`; seconds and a zone may
  /// follow. Source: RFC 3339.
  private static func dateEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard start == 0 || mayComeBeforeTerm(bytes, start), let year = number(bytes, start, 4), (1900...2199).contains(year),
      let month = number(bytes, start + 5, 2, after: 0x2D), let day = number(bytes, start + 8, 2, after: 0x2D), day > 0
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days =
      switch month {
      case 4, 6, 9, 11: 30
      case 2: isLeap ? 29 : 28
      case 1...12: 31
      default: 0
      }
    guard day <= days else { return nil }
    let end = start + 10
    return timeEnd(bytes, end) ?? (endsTerm(bytes, end) ? end : nil)
  }

  /// The end of the time of day that follows a date, with a space or a `T` before it.
  private static func timeEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x54, var end = clockEnd(bytes, start + 1) else {
      return nil
    }
    if let seconds = number(bytes, end + 1, 2, after: 0x3A), seconds < 60 { end += 3 }
    if end < bytes.count, bytes[end] == 0x5A {
      end += 1
    } else if end < bytes.count, bytes[end] == 0x2B || bytes[end] == 0x2D, let zone = clockEnd(bytes, end + 1) {
      end = zone
    }
    return endsTerm(bytes, end) ? end : nil
  }

  /// The end of `14:30`.
  private static func clockEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
    guard let hour = number(bytes, start, 2), hour < 24, let minute = number(bytes, start + 3, 2, after: 0x3A), minute < 60
    else {
      return nil
    }
    return start + 5
  }

  /// Punctuation may follow, more digits behind it may not.
  private static func endsTerm(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) -> Bool {
    guard end < bytes.count else { return true }
    switch bytes[end] {
    case 0x2B, 0x2D, 0x2F, 0x5F: return false
    case 0x2C, 0x2E, 0x3A: return end + 1 == bytes.count || !isWord(bytes[end + 1])
    default: return !isWord(bytes[end])
    }
  }

  /// Of that many digits. `after`: the byte that stands before them.
  private static func number(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int, after byte: UInt8? = nil
  ) -> Int? {
    guard start + count <= bytes.count, byte == nil || bytes[start - 1] == byte else { return nil }
    var value = 0
    for digit in bytes[start..<(start + count)] {
      guard digit >= 0x30, digit <= 0x39 else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }

  // MARK: Addresses of pages

  /// The end of a link that begins at `start`.
  private static func linkEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
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
  private static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int {
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
