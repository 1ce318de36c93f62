import JSON
import MatrixModel

/// The text of one block: links, code, emphasis.
///
/// One pass makes pieces: text that is done, and runs of `*`, `_`, `~~`, `||`, which pair up afterwards as CommonMark says ("An algorithm for
/// parsing nested emphasis and links"). Every search that can fail is bounded or remembered, so that hostile text costs no more than
/// any other.
struct MarkdownInline {
  enum Mark: UInt8 { case emphasis, strong, struck, hidden }

  struct Piece {
    enum Kind {
      case text
      case run(Int)
      case bracket
      /// A link that was not asked for: only its text stands within a link that was.
      case autolink(open: Range<Int>)
    }

    var kind: Kind
    /// Bytes of `done`.
    var range: Range<Int>
  }

  struct Run {
    let byte: UInt8
    let length: Int
    var count: Int
    let canOpen: Bool
    let canClose: Bool
    /// Where it stands in `text`.
    let position: Int
    var opened: [Mark] = []
    var closed: [Mark] = []
    var previous: Int
    var next = -1
  }

  struct Bracket {
    let piece: Int
    /// The last run in front of it.
    let run: Int
    let position: Int
  }

  /// The lines of the block, joined.
  var text: [UInt8] = []
  private var lineStarts: [(text: Int, source: Int)] = []
  var position = 0
  /// HTML that is ready.
  var done: [UInt8] = []
  var pieces: [Piece] = []
  private var textStart = 0
  var runs: [Run] = []
  var lastRun = -1
  var brackets: [Bracket] = []
  /// Places of backtick runs by their length, the first last; nil before they were looked for.
  private var backticks: [Int: [Int]]?

  var hasMarkup = false
  var mentions = Mentions()
  var substitutions: [(range: Range<Int>, text: [UInt8])] = []
  private let source: [UInt8]
  /// The picture that a name between colons stands for.
  let emoticon: (ByteString) -> MediaURI?

  init(_ source: [UInt8], _ lines: [Range<Int>], _ emoticon: @escaping (ByteString) -> MediaURI?) {
    self.source = source
    self.emoticon = emoticon
    for line in lines {
      if !lineStarts.isEmpty { text.append(0x0A) }
      lineStarts.append((text.count, line.lowerBound))
      text += source[line]
    }
  }

  mutating func run() {
    done.reserveCapacity(text.count)
    while position < text.count { step() }
    flush()
    pairRuns(behind: -1)
  }

  private mutating func step() {
    let byte = text[position]
    switch byte {
    case 0x0A:
      // A backslash or spaces in front of it say the same as the line break alone.
      append("<br>")
      position += 1
    case UInt8(ascii: "\\"): readEscape()
    case UInt8(ascii: "`"): readCode()
    case UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "|"): readRun(byte)
    case UInt8(ascii: "["):
      addPiece(.bracket)
      brackets.append(Bracket(piece: pieces.count - 1, run: lastRun, position: position))
      position += 1
    case UInt8(ascii: "]"): readBracketEnd()
    case UInt8(ascii: "<"), UInt8(ascii: "h"), UInt8(ascii: "H"), UInt8(ascii: "@"), UInt8(ascii: "#"):
      if !readAutolink() { appendByte() }
    case UInt8(ascii: ":"): if !readEmoticon() { appendByte() }
    default: appendByte()
    }
  }

  // MARK: Text

  mutating func append(_ text: StaticString) {
    done += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  mutating func appendByte() {
    HTMLEntities.escape(text[position..<(position + 1)], to: &done)
    position += 1
  }

  /// Closes the piece of text before something else begins.
  mutating func flush() {
    if textStart < done.count { pieces.append(Piece(kind: .text, range: textStart..<done.count)) }
    textStart = done.count
  }

  mutating func addPiece(_ kind: Piece.Kind) {
    flush()
    pieces.append(Piece(kind: kind, range: done.count..<done.count))
  }

  mutating func addAutolink(target: [UInt8], shown: Range<Int>) {
    flush()
    let start = done.count
    writeLinkStart(target)
    let middle = done.count
    HTMLEntities.escape(text[shown], to: &done)
    pieces.append(Piece(kind: .autolink(open: start..<middle), range: middle..<done.count))
    textStart = done.count
    hasMarkup = true
  }

  mutating func writeLinkStart(_ target: [UInt8]) {
    append("<a href=\"")
    HTMLEntities.escape(target[...], to: &done)
    append("\">")
  }

  private mutating func readEscape() {
    let next = position + 1
    if next < text.count, MarkdownInline.isPunctuation(text[next]) {
      hasMarkup = true
      position = next
    } else if next < text.count, text[next] == 0x0A {
      position = next
      return
    }
    appendByte()
  }

  /// Where a place of the joined text stands in the source.
  func sourceOffset(_ offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if lineStarts[middle].text <= offset { low = middle } else { high = middle - 1 }
    }
    return lineStarts[low].source + offset - lineStarts[low].text
  }

  mutating func substitute(_ range: Range<Int>, _ replacement: [UInt8]) {
    substitutions.append((sourceOffset(range.lowerBound)..<sourceOffset(range.upperBound), replacement))
  }

  // MARK: Code

  private mutating func readCode() {
    let start = position
    while position < text.count, text[position] == UInt8(ascii: "`") { position += 1 }
    let count = position - start
    guard let end = closingBackticks(count, behind: position) else {
      HTMLEntities.escape(text[start..<position], to: &done)
      return
    }
    var content = position..<end
    // One space on both sides is room for a backtick.
    if content.count > 2, text[content.lowerBound] == 0x20, text[content.upperBound - 1] == 0x20 {
      content = (content.lowerBound + 1)..<(content.upperBound - 1)
    }
    append("<code>")
    for i in content {
      if text[i] == 0x0A { done.append(0x20) } else { HTMLEntities.escape(text[i..<(i + 1)], to: &done) }
    }
    append("</code>")
    hasMarkup = true
    position = end + count
  }

  private mutating func closingBackticks(_ count: Int, behind start: Int) -> Int? {
    if backticks == nil { backticks = findBackticks() }
    while let next = backticks?[count]?.last {
      if next >= start { return next }
      backticks?[count]?.removeLast()
    }
    return nil
  }

  private func findBackticks() -> [Int: [Int]] {
    var places: [Int: [Int]] = [:]
    var end = text.count
    while end > 0 {
      guard text[end - 1] == UInt8(ascii: "`") else {
        end -= 1
        continue
      }
      var start = end
      while start > 0, text[start - 1] == UInt8(ascii: "`") { start -= 1 }
      places[end - start, default: []].append(start)
      end = start
    }
    return places
  }

  // MARK: Links

  private mutating func readBracketEnd() {
    guard let bracket = brackets.popLast(), let (target, end) = readTarget(from: position + 1) else { return appendByte() }
    flush()
    pairRuns(behind: bracket.run)
    let inner = (bracket.position + 1)..<position
    if let link = Permalink(ByteString(decoding: target)) {
      note(link)
      substitute(bracket.position..<end, Array(text[inner]))
    }
    for i in (bracket.piece + 1)..<max(pieces.count, bracket.piece + 1) {
      if case .autolink = pieces[i].kind { pieces[i].kind = .text }
    }
    let start = done.count
    writeLinkStart(target)
    pieces[bracket.piece] = Piece(kind: .text, range: start..<done.count)
    textStart = done.count
    append("</a>")
    flush()
    // No link stands in another: brackets further out mean themselves.
    brackets = []
    hasMarkup = true
    position = end
  }

  mutating func note(_ link: Permalink) {
    if case .user(let user) = link.target { mentions.add(user) }
  }

  /// `(target "title")`; the title is not shown.
  private func readTarget(from start: Int) -> (target: [UInt8], end: Int)? {
    guard start < text.count, text[start] == UInt8(ascii: "(") else { return nil }
    let limit = min(text.count, start + ContentLimits.linkBytes)
    var i = start + 1
    let isBracketed = i < limit && text[i] == UInt8(ascii: "<")
    if isBracketed { i += 1 }
    let first = i
    var depth = 0
    scan: while i < limit {
      switch text[i] {
      case UInt8(ascii: ">") where isBracketed: break scan
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")") where !isBracketed:
        if depth == 0 { break scan }
        depth -= 1
      case 0x20 where !isBracketed: break scan
      case 0x0A, UInt8(ascii: "<"): return nil
      default: break
      }
      i += 1
    }
    guard i < limit else { return nil }
    let target = Array(text[first..<i])
    if isBracketed { i += 1 }
    while i < limit, text[i] != UInt8(ascii: ")") {
      // Only a title may follow.
      if text[i] == 0x0A { return nil }
      i += 1
    }
    guard i < limit, HTMLAttribute.hasAllowedScheme(target) else { return nil }
    return (target, i + 1)
  }

  static func isPunctuation(_ byte: UInt8) -> Bool {
    (byte >= 0x21 && byte <= 0x2F) || (byte >= 0x3A && byte <= 0x40) || (byte >= 0x5B && byte <= 0x60)
      || (byte >= 0x7B && byte <= 0x7E)
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13) }

  static func isWord(_ byte: UInt8) -> Bool { byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 || byte >= 0x80 }
}
