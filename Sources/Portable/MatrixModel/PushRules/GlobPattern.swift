import JSON

/// A glob pattern, compiled: `*` stands for any run of characters, `?` for exactly one.
///
/// ASCII letters match in either case; the spec leaves the meaning of "case-insensitive" to the server. Matching takes time in
/// proportion to text times pattern at most: between stars the leftmost match is as good as any. A pattern that was made to
/// take all of that on a long text is given up after `stepsLimit` and does not match.
///
/// Spec: Appendices, "Glob-style Matching"; Client-Server API, `event_match`.
public struct GlobPattern: Sendable {
  /// Bytes looked at in one match. The longest text of an event has 65,536, and words of people are told apart by the first or
  /// second byte.
  public static let stepsLimit = 1 << 18

  /// What stands between the stars: bytes in lower case, nil for `?`.
  private let pieces: [[UInt8?]]

  public init(_ pattern: ByteString) {
    var pieces: [[UInt8?]] = [[]]
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "*"): pieces.append([])
      case UInt8(ascii: "?"): pieces[pieces.count - 1].append(nil)
      default: pieces[pieces.count - 1].append(Self.folded(byte))
      }
    }
    self.pieces = pieces
  }

  /// Matches just this text, in which `*` and `?` mean themselves.
  public init(literal text: ByteString) {
    pieces = [text.utf8.map { Self.folded($0) }]
  }

  /// Whether the pattern matches all of the text.
  public func matches(_ text: ByteString) -> Bool {
    var budget = Self.stepsLimit
    return matches(text, budget: &budget)
  }

  /// Whether the pattern matches a part of the text that begins and ends at a word boundary, see
  /// `matchesWords(in:budget:)`.
  public func matchesWords(in text: ByteString) -> Bool {
    var budget = Self.stepsLimit
    return matchesWords(in: text, budget: &budget)
  }

  /// Whether the pattern matches all of the text. What it costs is taken from `budget`, in steps; where that is used up,
  /// nothing matches.
  func matches(_ text: ByteString, budget: inout Int) -> Bool {
    spend(&budget) { steps in
      text.withBytes { text in matches(text, from: 0, &steps, isEnd: { $0 == text.count }) }
    }
  }

  /// Whether the pattern matches a part of the text that begins and ends at a word boundary: the edge of the text or of a
  /// character other than `A-Z`, `a-z`, `0-9` and `_`. What it costs is taken from `budget`, as in `matches(_:budget:)`.
  func matchesWords(in text: ByteString, budget: inout Int) -> Bool {
    spend(&budget) { steps in text.withBytes { text in matchesWords(in: text, &steps) } }
  }

  private func matchesWords(in text: UnsafeBufferPointer<UInt8>, _ steps: inout Int) -> Bool {
    var start = 0
    while start <= text.count && steps <= Self.stepsLimit {
      if Self.isBoundary(text, start) {
        switch firstEnd(text, from: start, &steps) {
        case .match: return true
        case .hopeless: return false
        case .none: break
        }
      }
      start += 1
    }
    // Looking at each place costs a little too.
    steps += start >> 3
    return false
  }

  /// Lets `body` count its steps, from what an exhausted budget has used of `stepsLimit` on.
  private func spend(_ budget: inout Int, _ body: (inout Int) -> Bool) -> Bool {
    guard budget > 0 else { return false }
    let begin = max(0, Self.stepsLimit - budget)
    var steps = begin
    let matches = body(&steps)
    budget -= max(1, steps - begin)
    return matches
  }

  private enum WordMatch { case match, none, hopeless }

  /// A match that begins at `start`. Once the first piece is placed, a later start has only less room: where the rest of
  /// the pieces does not fit behind the leftmost place of the first, it fits nowhere.
  private func firstEnd(_ text: UnsafeBufferPointer<UInt8>, from start: Int, _ steps: inout Int) -> WordMatch {
    if matches(text, from: start, &steps, isEnd: { Self.isBoundary(text, $0) }) { return .match }
    return pieces.count > 1 && place(pieces[0], in: text, at: start, &steps) != nil ? .hopeless : .none
  }

  // MARK: Pieces

  private func matches(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, _ steps: inout Int, isEnd: (Int) -> Bool
  ) -> Bool {
    guard var position = place(pieces[0], in: text, at: start, &steps) else { return false }
    if pieces.count == 1 { return isEnd(position) }
    for piece in pieces[1..<(pieces.count - 1)] {
      guard let end = find(piece, in: text, from: position, &steps, where: { _ in true }) else { return false }
      position = end
    }
    return find(pieces[pieces.count - 1], in: text, from: position, &steps, where: isEnd) != nil
  }

  /// Where the leftmost occurrence of a piece that ends at a place which `isEnd` accepts ends.
  private func find(
    _ piece: [UInt8?], in text: UnsafeBufferPointer<UInt8>, from start: Int, _ steps: inout Int,
    where isEnd: (Int) -> Bool
  ) -> Int? {
    var position = start
    while position <= text.count && steps <= Self.stepsLimit {
      if let end = place(piece, in: text, at: position, &steps), isEnd(end) { return end }
      position += 1
    }
    return nil
  }

  /// Where a piece that begins at `start` ends; nil where it does not match there.
  @inline(__always)
  private func place(
    _ piece: [UInt8?], in text: UnsafeBufferPointer<UInt8>, at start: Int, _ steps: inout Int
  ) -> Int? {
    // A character is never entered in its middle.
    if start < text.count && Self.isContinuation(text[start]) { return nil }
    var position = start
    defer { steps += position - start + 1 }
    for expected in piece {
      guard position < text.count else { return nil }
      if let expected {
        guard Self.folded(text[position]) == expected else { return nil }
        position += 1
      } else {
        position += 1
        while position < text.count && Self.isContinuation(text[position]) { position += 1 }
      }
    }
    return position
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  @inline(__always)
  static func folded(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

  private static func isBoundary(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
    position == 0 || position == text.count || !isWord(text[position - 1]) || !isWord(text[position])
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
