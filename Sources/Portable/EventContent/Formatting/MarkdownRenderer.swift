import JSON
import MatrixModel

/// Markdown as HTML that is safe by construction: every byte of the source goes through an escape, every element is opened and closed here.
///
/// Blocks are found line by line. A quote or a list hands the rest of its lines to a level of its own, of which there are at most
/// `ContentLimits.quoteDepth`; so each byte is looked at a bounded number of times. What the text within a block means is for `MarkdownInline`.
struct MarkdownRenderer {
  let source: [UInt8]
  var out: [UInt8] = []
  /// Whether the HTML says more than the source.
  var hasMarkup = false
  var mentions = Mentions()
  /// Parts of the source that the body has in another form, in order.
  var substitutions: [(range: Range<Int>, text: [UInt8])] = []

  private let emoticon: (ByteString) -> MediaURI?

  init(_ source: [UInt8], _ emoticon: @escaping (ByteString) -> MediaURI?) {
    self.source = source
    self.emoticon = emoticon
  }

  mutating func run() {
    out.reserveCapacity(source.count + source.count / 4)
    var lines: [Range<Int>] = []
    var start = 0
    for (i, byte) in source.enumerated() where byte == 0x0A {
      lines.append(start..<(i > start && source[i - 1] == 0x0D ? i - 1 : i))
      start = i + 1
    }
    lines.append(start..<source.count)
    blocks(lines[...], depth: 0, isTight: isOneParagraph(lines))
  }

  /// The source with what only the HTML can say in words.
  var body: [UInt8] {
    guard !substitutions.isEmpty else { return source }
    var body: [UInt8] = []
    var position = 0
    for (range, text) in substitutions.ordered(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard range.lowerBound >= position else { continue }
      body += source[position..<range.lowerBound] + text
      position = range.upperBound
    }
    return body + source[position...]
  }

  private func isOneParagraph(_ lines: [Range<Int>]) -> Bool {
    var seen = false
    var ended = false
    for line in lines {
      if isBlank(line) {
        ended = seen
      } else {
        if ended { return false }
        seen = true
      }
    }
    return true
  }

  // MARK: Blocks

  private mutating func blocks(_ lines: ArraySlice<Range<Int>>, depth: Int, isTight: Bool) {
    var i = lines.startIndex
    while i < lines.endIndex {
      let line = lines[i]
      if isBlank(line) {
        i += 1
      } else if let fence = fence(line) {
        i = code(lines, i, fence)
      } else if let level = heading(line) {
        writeHeading(line, level)
        i += 1
      } else if isRule(line) {
        write("<hr>")
        hasMarkup = true
        i += 1
      } else if depth < ContentLimits.quoteDepth, quoted(line) != nil {
        i = quote(lines, i, depth)
      } else if depth < ContentLimits.quoteDepth, let marker = marker(line) {
        i = list(lines, i, marker, depth)
      } else {
        i = paragraph(lines, i, depth, isTight: isTight)
      }
    }
  }

  private mutating func paragraph(_ lines: ArraySlice<Range<Int>>, _ start: Int, _ depth: Int, isTight: Bool) -> Int {
    var end = start + 1
    while end < lines.endIndex, !isBlank(lines[end]), !interrupts(lines[end], depth) { end += 1 }
    if !isTight { write("<p>") }
    inline(lines[start..<end].map { trimmed($0) })
    if !isTight { write("</p>") }
    return end
  }

  private func interrupts(_ line: Range<Int>, _ depth: Int) -> Bool {
    if fence(line) != nil || heading(line) != nil || isRule(line) { return true }
    guard depth < ContentLimits.quoteDepth else { return false }
    if quoted(line) != nil { return true }
    // A number other than 1 at the start of a line is more often one of a sentence.
    guard let marker = marker(line), !isBlank(marker.content..<line.upperBound) else { return false }
    return marker.number == nil || marker.number == 1
  }

  private mutating func writeHeading(_ line: Range<Int>, _ level: Int) {
    hasMarkup = true
    let text = trimmed(line)
    var range = trimmed((text.lowerBound + level)..<text.upperBound)
    var end = range.upperBound
    while end > range.lowerBound, source[end - 1] == UInt8(ascii: "#") { end -= 1 }
    if end == range.lowerBound || source[end - 1] == 0x20 { range = trimmed(range.lowerBound..<end) }
    write("<h")
    out.append(UInt8(ascii: "0") + UInt8(level))
    write(">")
    inline([range])
    write("</h")
    out.append(UInt8(ascii: "0") + UInt8(level))
    write(">")
  }

  private mutating func code(_ lines: ArraySlice<Range<Int>>, _ start: Int, _ fence: Fence) -> Int {
    hasMarkup = true
    write("<pre><code")
    let language = source[fence.language]
    if !language.isEmpty {
      write(" class=\"language-")
      HTMLEntities.escape(language, to: &out)
      write("\"")
    }
    write(">")
    var i = start + 1
    while i < lines.endIndex {
      let line = lines[i]
      if let end = self.fence(line), end.byte == fence.byte, end.count >= fence.count, isBlank(end.rest..<line.upperBound) {
        break
      }
      let indent = min(fence.indent, indentation(line))
      HTMLEntities.escape(source[(line.lowerBound + indent)..<line.upperBound], to: &out)
      out.append(0x0A)
      i += 1
    }
    write("</code></pre>")
    return min(i + 1, lines.endIndex)
  }

  private mutating func quote(_ lines: ArraySlice<Range<Int>>, _ start: Int, _ depth: Int) -> Int {
    hasMarkup = true
    var inner: [Range<Int>] = []
    var i = start
    while i < lines.endIndex, let content = quoted(lines[i]) {
      inner.append(content..<lines[i].upperBound)
      i += 1
    }
    write("<blockquote>")
    blocks(inner[...], depth: depth + 1, isTight: false)
    write("</blockquote>")
    return i
  }

  private mutating func list(_ lines: ArraySlice<Range<Int>>, _ start: Int, _ first: Marker, _ depth: Int) -> Int {
    hasMarkup = true
    var items: [[Range<Int>]] = []
    var content = 0
    var isLoose = false
    var blanks = 0
    var i = start
    while i < lines.endIndex {
      let line = lines[i]
      if isBlank(line) {
        blanks += 1
      } else if indentation(line) >= content, content > 0 {
        isLoose = isLoose || blanks > 0
        for _ in 0..<blanks { items[items.count - 1].append(line.lowerBound..<line.lowerBound) }
        items[items.count - 1].append((line.lowerBound + content)..<line.upperBound)
        blanks = 0
      } else if let marker = marker(line), marker.kind == first.kind, !isRule(line) {
        isLoose = isLoose || (blanks > 0 && !items.isEmpty)
        content = marker.content - line.lowerBound
        items.append([marker.content..<line.upperBound])
        blanks = 0
      } else {
        break
      }
      i += 1
    }
    write(first.number == nil ? "<ul>" : "<ol")
    if let number = first.number { out += number == 1 ? Array(">".utf8) : Array(" start=\"\(number)\">".utf8) }
    for item in items {
      write("<li>")
      blocks(item[...], depth: depth + 1, isTight: !isLoose)
      write("</li>")
    }
    write(first.number == nil ? "</ul>" : "</ol>")
    return i
  }

  private mutating func inline(_ lines: [Range<Int>]) {
    var inline = MarkdownInline(source, lines, emoticon)
    inline.run()
    out += inline.rendered()
    hasMarkup = hasMarkup || inline.hasMarkup
    mentions.formUnion(inline.mentions)
    substitutions += inline.substitutions
  }

  private mutating func write(_ text: StaticString) {
    out += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }
}

// MARK: - Lines

extension MarkdownRenderer {
  struct Fence {
    let byte: UInt8
    let count: Int
    let indent: Int
    /// Behind the fence itself.
    let rest: Int
    let language: Range<Int>
  }

  struct Marker {
    /// The bullet, or what stands behind the number.
    let kind: UInt8
    let number: Int?
    /// Where the text of the item begins.
    let content: Int
  }

  func isBlank(_ line: Range<Int>) -> Bool { source[line].allSatisfy { $0 == 0x20 || $0 == 9 } }

  func indentation(_ line: Range<Int>) -> Int { source[line].prefix { $0 == 0x20 }.count }

  func trimmed(_ line: Range<Int>) -> Range<Int> {
    var (start, end) = (line.lowerBound, line.upperBound)
    while start < end, source[start] == 0x20 || source[start] == 9 { start += 1 }
    while end > start, source[end - 1] == 0x20 || source[end - 1] == 9 { end -= 1 }
    return start..<end
  }

  /// Where the text of the line begins; nil behind four spaces.
  private func begin(_ line: Range<Int>) -> Int? {
    let indent = indentation(line)
    return indent < 4 ? line.lowerBound + indent : nil
  }

  func fence(_ line: Range<Int>) -> Fence? {
    guard let start = begin(line), start < line.upperBound else { return nil }
    let byte = source[start]
    guard byte == UInt8(ascii: "`") || byte == UInt8(ascii: "~") else { return nil }
    let count = source[start..<line.upperBound].prefix { $0 == byte }.count
    let rest = start + count
    guard count >= 3, byte != UInt8(ascii: "`") || !source[rest..<line.upperBound].contains(byte) else { return nil }
    let information = trimmed(rest..<line.upperBound)
    let language = source[information].prefix { $0 != 0x20 && $0 != 9 }
    return Fence(
      byte: byte, count: count, indent: start - line.lowerBound, rest: rest,
      language: information.lowerBound..<(information.lowerBound + language.count))
  }

  /// 1 to 6.
  func heading(_ line: Range<Int>) -> Int? {
    guard let start = begin(line) else { return nil }
    let level = source[start..<line.upperBound].prefix(7).prefix { $0 == UInt8(ascii: "#") }.count
    guard (1...6).contains(level) else { return nil }
    let end = start + level
    // Text is due: who writes `#` alone means it.
    return end < line.upperBound && source[end] == 0x20 && !isBlank(end..<line.upperBound) ? level : nil
  }

  func isRule(_ line: Range<Int>) -> Bool {
    guard let start = begin(line), start < line.upperBound else { return false }
    let byte = source[start]
    guard byte == UInt8(ascii: "-") || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "_") else { return false }
    var count = 0
    for other in source[start..<line.upperBound] {
      if other == byte { count += 1 } else if other != 0x20, other != 9 { return false }
    }
    return count >= 3
  }

  /// Where the text of a quoted line begins.
  func quoted(_ line: Range<Int>) -> Int? {
    guard let start = begin(line), start < line.upperBound, source[start] == UInt8(ascii: ">") else { return nil }
    return start + 1 < line.upperBound && source[start + 1] == 0x20 ? start + 2 : start + 1
  }

  func marker(_ line: Range<Int>) -> Marker? {
    guard let start = begin(line), start < line.upperBound else { return nil }
    let digits = source[start..<line.upperBound].prefix(9).prefix { $0 &- 48 < 10 }
    let sign = start + digits.count
    guard sign < line.upperBound else { return nil }
    let kind = source[sign]
    if digits.isEmpty {
      guard kind == UInt8(ascii: "-") || kind == UInt8(ascii: "+") || kind == UInt8(ascii: "*") else { return nil }
    } else {
      guard kind == UInt8(ascii: ".") || kind == UInt8(ascii: ")") else { return nil }
    }
    guard sign + 1 < line.upperBound, source[sign + 1] == 0x20 else { return nil }
    let spaces = source[(sign + 1)..<line.upperBound].prefix(4).prefix { $0 == 0x20 }.count
    let number = digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    return Marker(kind: kind, number: number, content: sign + 1 + spaces)
  }
}
