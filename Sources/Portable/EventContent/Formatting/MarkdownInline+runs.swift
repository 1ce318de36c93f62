/// Runs of `*`, `_`, `~~` and `||`, and how they pair up.
extension MarkdownInline {
  mutating func readRun(_ byte: UInt8) {
    let start = position
    while position < text.count, text[position] == byte { position += 1 }
    let count = position - start
    let isDouble = byte == UInt8(ascii: "~") || byte == UInt8(ascii: "|")
    guard !isDouble || count == 2 else {
      HTMLEntities.escape(text[start..<position], to: &done)
      return
    }
    let before = start > 0 ? text[start - 1] : 0x20
    let after = position < text.count ? text[position] : 0x20
    let isLeft = flanks(inside: after, outside: before)
    let isRight = flanks(inside: before, outside: after)
    var (canOpen, canClose) = (isLeft, isRight)
    if byte == UInt8(ascii: "_") {
      canOpen = isLeft && (!isRight || MarkdownInline.isPunctuation(before))
      canClose = isRight && (!isLeft || MarkdownInline.isPunctuation(after))
    }
    addPiece(.run(runs.count))
    runs.append(
      Run(byte: byte, length: count, count: count, canOpen: canOpen, canClose: canClose, position: start, previous: lastRun))
    if lastRun >= 0 { runs[lastRun].next = runs.count - 1 }
    lastRun = runs.count - 1
  }

  private func flanks(inside: UInt8, outside: UInt8) -> Bool {
    if MarkdownInline.isSpace(inside) { return false }
    return !MarkdownInline.isPunctuation(inside) || MarkdownInline.isSpace(outside) || MarkdownInline.isPunctuation(outside)
  }

  /// Pairs what stands behind that run and forgets the rest of it.
  mutating func pairRuns(behind bottom: Int) {
    // For each kind of closing run the place behind which an opening one was looked for in vain.
    var floors = [Int](repeating: bottom, count: 8 * 6)
    var closer = bottom < 0 ? (runs.isEmpty ? -1 : firstRun) : runs[bottom].next
    while closer >= 0 {
      guard runs[closer].canClose else {
        closer = runs[closer].next
        continue
      }
      let kind = floorIndex(of: runs[closer])
      var opener = runs[closer].previous
      while opener >= 0, opener != bottom, opener > floors[kind], !fits(runs[opener], runs[closer]) {
        opener = runs[opener].previous
      }
      if opener >= 0, opener != bottom, opener > floors[kind] {
        closer = pair(opener, closer)
      } else {
        floors[kind] = max(floors[kind], runs[closer].previous)
        let next = runs[closer].next
        if !runs[closer].canOpen { unlink(closer) }
        closer = next
      }
    }
    lastRun = bottom
    if bottom >= 0 { runs[bottom].next = -1 }
  }

  private var firstRun: Int {
    var first = lastRun
    while first >= 0, runs[first].previous >= 0 { first = runs[first].previous }
    return first
  }

  private func floorIndex(of run: Run) -> Int {
    let byte =
      switch run.byte {
      case UInt8(ascii: "*"): 0
      case UInt8(ascii: "_"): 1
      case UInt8(ascii: "~"): 2
      default: 3
      }
    return byte * 6 + (run.canOpen ? 3 : 0) + run.length % 3
  }

  private func fits(_ opener: Run, _ closer: Run) -> Bool {
    guard opener.canOpen, opener.byte == closer.byte else { return false }
    // Spec: CommonMark, "Emphasis and strong emphasis", rules 9 and 10.
    let isEither = opener.canClose || closer.canOpen
    return !(isEither && (opener.length + closer.length) % 3 == 0 && (opener.length % 3 != 0 || closer.length % 3 != 0))
  }

  /// The closing run to go on with.
  private mutating func pair(_ opener: Int, _ closer: Int) -> Int {
    let mark: Mark
    var width = 2
    switch runs[closer].byte {
    case UInt8(ascii: "~"): mark = .struck
    case UInt8(ascii: "|"):
      mark = .hidden
      substitute(runs[opener].position..<(runs[closer].position + 2), Array("[Spoiler]".utf8))
    default:
      width = runs[opener].count >= 2 && runs[closer].count >= 2 ? 2 : 1
      mark = width == 2 ? .strong : .emphasis
    }
    hasMarkup = true
    runs[opener].opened.append(mark)
    runs[closer].closed.append(mark)
    runs[opener].count -= width
    runs[closer].count -= width
    // What stands between them has no partner outside.
    runs[opener].next = closer
    runs[closer].previous = opener
    if runs[opener].count == 0 { unlink(opener) }
    guard runs[closer].count == 0 else { return closer }
    let next = runs[closer].next
    unlink(closer)
    return next
  }

  private mutating func unlink(_ run: Int) {
    let (previous, next) = (runs[run].previous, runs[run].next)
    if previous >= 0 { runs[previous].next = next }
    if next >= 0 { runs[next].previous = previous } else { lastRun = previous }
  }

  // MARK: Result

  func rendered() -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(done.count)
    /// Whether each open mark is written: deep nesting is cut.
    var written: [Bool] = []
    var depth = 0
    for piece in pieces {
      switch piece.kind {
      case .text: out += done[piece.range]
      case .bracket: out.append(UInt8(ascii: "["))
      case .autolink(let open):
        out += done[open] + done[piece.range]
        out += "</a>".utf8
      case .run(let i):
        for mark in runs[i].closed where written.popLast() ?? false {
          depth -= 1
          out += mark.end.utf8
        }
        for _ in 0..<runs[i].count { out.append(runs[i].byte) }
        for mark in runs[i].opened.reversed() {
          let isWritten = depth < ContentLimits.markDepth
          written.append(isWritten)
          guard isWritten else { continue }
          depth += 1
          out += mark.start.utf8
        }
      }
    }
    return out
  }
}

extension MarkdownInline.Mark {
  fileprivate var start: String {
    switch self {
    case .emphasis: "<em>"
    case .strong: "<strong>"
    case .struck: "<del>"
    case .hidden: "<span data-mx-spoiler>"
    }
  }

  fileprivate var end: String {
    switch self {
    case .emphasis: "</em>"
    case .strong: "</strong>"
    case .struck: "</del>"
    case .hidden: "</span>"
    }
  }
}
