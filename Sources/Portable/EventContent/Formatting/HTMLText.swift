/// HTML as text. What opens and closes is counted, not nested: text needs no tree.
struct HTMLText {
  private struct List {
    /// nil in lists without numbers.
    var number: Int?
  }

  private var reader: HTMLReader
  private var out: [UInt8] = []
  private var lists: [List] = []
  private var quoteDepth = 0
  private var preDepth = 0
  private var replyDepth = 0
  /// Spans inside a hidden one, itself included; 0 outside.
  private var hiddenSpans = 0
  /// Line breaks that are due before the next text: 0, 1 or 2.
  private var breaks = 0
  private var hasSpace = false
  private var isLineEmpty = true

  init(_ reader: HTMLReader) { self.reader = reader }

  mutating func run() -> [UInt8] {
    while let token = reader.next() {
      switch token {
      case .text(let range): if isShown { write(HTMLEntities.decode(reader.bytes[range])) }
      case .start(let tag?): start(tag)
      case .end(let tag?): end(tag)
      case .start(nil), .end(nil): break
      }
    }
    while let last = out.last, last == 0x20 || last == 0x0A { out.removeLast() }
    return out
  }

  private var isShown: Bool { replyDepth == 0 && hiddenSpans == 0 }

  // MARK: Elements

  private mutating func start(_ tag: HTMLTag) {
    if tag == .mxReply { replyDepth += 1 }
    if hiddenSpans > 0, tag == .span { hiddenSpans += 1 }
    guard isShown else { return }
    if tag.isBlock { breakLine(tag == .li || tag == .tr ? 1 : HTMLText.margin(tag)) }
    switch tag {
    case .br: newLine()
    case .hr:
      write(Array("---".utf8))
      breakLine(1)
    case .blockquote: quoteDepth = min(quoteDepth + 1, ContentLimits.quoteDepth)
    case .pre: preDepth += 1
    case .ul: push(List(number: nil))
    case .ol: push(List(number: startNumber))
    case .li: writeMarker()
    case .td, .th: if !isLineEmpty, breaks == 0 { append(9) }
    case .img: if let alt = reader.value(of: .alt, in: .img) { write(alt) }
    case .span:
      guard let reason = reader.value(of: .spoiler, in: .span) else { return }
      write(Array(reason.isEmpty ? "[Spoiler".utf8 : "[Spoiler for ".utf8) + reason + [UInt8(ascii: "]")])
      hiddenSpans = 1
    default: break
    }
  }

  private mutating func end(_ tag: HTMLTag) {
    if tag == .mxReply { replyDepth = max(0, replyDepth - 1) }
    if hiddenSpans > 0, tag == .span {
      hiddenSpans -= 1
      return
    }
    guard isShown else { return }
    switch tag {
    case .blockquote: quoteDepth = max(0, quoteDepth - 1)
    case .pre: preDepth = max(0, preDepth - 1)
    case .ul, .ol: if !lists.isEmpty { lists.removeLast() }
    default: break
    }
    if tag.isBlock, tag != .hr { breakLine(tag == .li || tag == .tr ? 1 : HTMLText.margin(tag)) }
  }

  private static func margin(_ tag: HTMLTag) -> Int {
    switch tag {
    case .p, .h1, .h2, .h3, .h4, .h5, .h6: 2
    default: 1
    }
  }

  private mutating func push(_ list: List) { if lists.count < ContentLimits.htmlDepth { lists.append(list) } }

  private var startNumber: Int {
    guard let start = reader.value(of: .start, in: .ol) else { return 1 }
    return Int(String(decoding: start, as: UTF8.self)) ?? 1
  }

  private mutating func writeMarker() {
    let indent = [UInt8](repeating: 0x20, count: 2 * min(max(0, lists.count - 1), ContentLimits.quoteDepth))
    var marker = Array("- ".utf8)
    if let number = lists.last?.number {
      marker = Array("\(number). ".utf8)
      lists[lists.count - 1].number = number &+ 1
    }
    for byte in indent + marker { append(byte) }
  }

  // MARK: Text

  private mutating func write(_ text: [UInt8]) {
    for byte in text {
      if preDepth > 0 {
        if byte == 0x0A { newLine() } else { append(byte) }
      } else if byte == 0x20 || (byte >= 9 && byte <= 13) {
        hasSpace = true
      } else {
        if hasSpace, !isLineEmpty, breaks == 0 { append(0x20) }
        append(byte)
      }
    }
  }

  private mutating func append(_ byte: UInt8) {
    if !out.isEmpty { for _ in 0..<breaks { lineFeed() } }
    breaks = 0
    if isLineEmpty { for _ in 0..<quoteDepth { out += "> ".utf8 } }
    out.append(byte)
    hasSpace = false
    isLineEmpty = false
  }

  private mutating func breakLine(_ count: Int) {
    if !isLineEmpty || breaks > 0 { breaks = max(breaks, count) }
    hasSpace = false
  }

  private mutating func newLine() {
    if breaks > 0, !out.isEmpty { for _ in 0..<breaks { lineFeed() } }
    breaks = 0
    if !out.isEmpty { lineFeed() }
    hasSpace = false
  }

  private mutating func lineFeed() {
    out.append(0x0A)
    isLineEmpty = true
  }
}
