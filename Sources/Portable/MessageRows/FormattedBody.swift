import ClientCore
import JSON
import MatrixModel
import Messenger

/// The HTML of a message as rich text: a tree that is built into elements of our own, so nothing in it runs or leaves its place.
/// What is not allowed is left out, what stands in it stays. O(bytes).
///
/// Spec: Client-Server API, "m.room.message msgtypes".
package struct FormattedBody {
  /// Elements in each other; tags of deeper ones are left out.
  private static let depthLimit = 20
  /// Pictures in one text; what they are called stands in the place of more.
  private static let picturesLimit = 100

  /// An element that has begun.
  private struct Open {
    let tag: HTMLTag?
    /// A link's target, a reason, a language.
    var value = ""
    var number: Int?
    /// The line that is being written.
    var spans: [RichSpan] = []
    var blocks: [RichBlock] = []
    /// Of a list.
    var items: [[RichBlock]] = []
    /// Of a row.
    var cells: [[RichSpan]] = []
    var isHead = false
    /// Of a table.
    var head: [[RichSpan]] = []
    var rows: [[[RichSpan]]] = []
  }

  private let mention: (Permalink) -> Mention?
  private let picture: (MediaURI) -> String
  private var reader: HTMLReader
  private var open = [Open(tag: nil)]
  private var replyDepth = 0
  private var pictures = 0
  /// Elements in which there are no blocks: a block is a new line there.
  private var flatDepth = 0
  private var code: [UInt8]?
  /// White space counts for nothing here: a line begins, or there is some already.
  private var hasSpace = true

  /// - Parameters:
  ///   - mention: what a link to a person, a room or a message becomes; nil leaves it a link.
  ///   - picture: where a picture in the line is.
  package init(_ html: ByteString, mention: @escaping (Permalink) -> Mention?, picture: @escaping (MediaURI) -> String) {
    reader = HTML.reader(of: html)
    self.mention = mention
    self.picture = picture
  }

  package mutating func read() -> RichText {
    while let token = reader.next() {
      switch token {
      case .text(let range): if replyDepth == 0 { write(reader.characters(range)) }
      case .start(let tag?): start(tag)
      case .end(let tag?): end(tag)
      case .start(nil), .end(nil): break
      }
    }
    while open.count > 1 { close() }
    endLine()
    return RichText(open[0].blocks)
  }

  // MARK: Text

  private mutating func write(_ text: [UInt8]) {
    if code != nil {
      code? += text
      return
    }
    var shown: [UInt8] = []
    shown.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x20 || (byte >= 9 && byte <= 13) {
        if !hasSpace { shown.append(0x20) }
        hasSpace = true
      } else {
        shown.append(byte)
        hasSpace = false
      }
    }
    if !shown.isEmpty { add(.text(String(decoding: shown, as: UTF8.self))) }
  }

  private mutating func add(_ span: RichSpan) {
    if case .text(let new) = span, case .text(let old)? = open[open.count - 1].spans.last {
      open[open.count - 1].spans[open[open.count - 1].spans.count - 1] = .text(old + new)
    } else {
      open[open.count - 1].spans.append(span)
    }
  }

  private mutating func breakLine() {
    if code != nil { code?.append(0x0A) } else { add(.lineBreak) }
    hasSpace = true
  }

  /// The line is a paragraph, unless it is empty.
  private mutating func endLine() {
    hasSpace = true
    guard let last = open.indices.last, !open[last].spans.isEmpty else { return }
    let spans = FormattedBody.trimmed(open[last].spans)
    open[last].spans = []
    if !spans.isEmpty { open[last].blocks.append(.paragraph(spans)) }
  }

  /// Without line breaks and white space at the end.
  private static func trimmed(_ spans: [RichSpan]) -> [RichSpan] {
    var spans = spans
    while let last = spans.last {
      switch last {
      case .lineBreak: spans.removeLast()
      case .text(let text):
        var bytes = Array(text.utf8)
        guard bytes.last == 0x20 else { return spans }
        bytes.removeLast()
        spans.removeLast()
        if !bytes.isEmpty { spans.append(.text(String(decoding: bytes, as: UTF8.self))) }
      default: return spans
      }
    }
    return spans
  }

  // MARK: Elements

  private mutating func start(_ tag: HTMLTag) {
    if tag == .mxReply { replyDepth += 1 }
    guard replyDepth == 0, !tag.isRaw else { return }
    if code != nil {
      if tag == .code { readLanguage() }
      if tag == .br { breakLine() }
      return
    }
    while let last = open.last?.tag, last.isEnded(by: tag) { close() }
    switch tag {
    case .br: return breakLine()
    case .img: return addPicture()
    case .font, .tbody, .thead: return
    case .span where reader.value(of: .spoiler, in: .span) == nil: return
    default: break
    }
    if FormattedBody.isBlock(tag) { return startBlock(tag) }
    guard open.count < FormattedBody.depthLimit else { return }
    var new = Open(tag: tag)
    if tag == .a { new.value = text(.href, of: tag) }
    if tag == .span {
      new.value = text(.spoiler, of: tag)
      flatDepth += 1
    }
    open.append(new)
  }

  private mutating func startBlock(_ tag: HTMLTag) {
    guard flatDepth == 0 else {
      if !(open.last?.spans.isEmpty ?? true) { breakLine() }
      return
    }
    while let last = open.last?.tag, !FormattedBody.isBlock(last) { close() }
    endLine()
    if tag == .hr { return open[open.count - 1].blocks.append(.rule) }
    guard open.count < FormattedBody.depthLimit else { return }
    var new = Open(tag: tag)
    if tag == .ol { new.number = Int(text(.start, of: tag)) ?? 1 }
    if tag == .pre { code = [] }
    if FormattedBody.isFlat(tag) { flatDepth += 1 }
    open.append(new)
  }

  private mutating func end(_ tag: HTMLTag) {
    if tag == .mxReply { replyDepth = max(0, replyDepth - 1) }
    guard replyDepth == 0 else { return }
    guard let index = open.lastIndex(where: { $0.tag == tag }) else {
      // A block that was but a new line ends with one.
      if flatDepth > 0, FormattedBody.isBlock(tag), !(open.last?.spans.isEmpty ?? true) { breakLine() }
      return
    }
    while open.count > index { close() }
  }

  private mutating func close() {
    guard let tag = open.last?.tag else { return }
    if FormattedBody.isFlat(tag) { flatDepth -= 1 }
    guard FormattedBody.isBlock(tag) else {
      let done = open.removeLast()
      if !done.spans.isEmpty { add(span(done, tag)) }
      // A new line at its end is gone.
      if tag == .span { hasSpace = false }
      return
    }
    let line = open[open.count - 1].spans
    if FormattedBody.isFlat(tag) { open[open.count - 1].spans = [] }
    endLine()
    let done = open.removeLast()
    closeBlock(done, tag, FormattedBody.trimmed(line))
  }

  private mutating func closeBlock(_ done: Open, _ tag: HTMLTag, _ line: [RichSpan]) {
    let last = open.count - 1
    let parent = open[last].tag
    switch tag {
    case .h1, .h2, .h3, .h4, .h5, .h6:
      let level = Int(tag.rawValue) - Int(HTMLTag.h1.rawValue) + 1
      if !line.isEmpty { open[last].blocks.append(.heading(level: level, line)) }
    case .blockquote: if !done.blocks.isEmpty { open[last].blocks.append(.quote(done.blocks)) }
    case .pre:
      var text = code ?? []
      code = nil
      if text.last == 0x0A { text.removeLast() }
      open[last].blocks.append(.code(String(decoding: text, as: UTF8.self), language: done.value))
    case .ul, .ol:
      let items = done.items + (done.blocks.isEmpty ? [] : [done.blocks])
      if !items.isEmpty { open[last].blocks.append(.list(start: done.number, items)) }
    case .li where parent == .ul || parent == .ol: open[last].items.append(done.blocks)
    case .td, .th:
      guard parent == .tr else {
        if !line.isEmpty { open[last].blocks.append(.paragraph(line)) }
        return
      }
      open[last].isHead = tag == .th && (open[last].isHead || open[last].cells.isEmpty)
      open[last].cells.append(line)
    case .tr:
      if parent != .table {
        open[last].blocks.append(.table(head: [], rows: [done.cells]))
      } else if done.isHead, open[last].head.isEmpty, open[last].rows.isEmpty {
        open[last].head = done.cells
      } else {
        open[last].rows.append(done.cells)
      }
      open[last].blocks += done.blocks
    case .table:
      if !done.head.isEmpty || !done.rows.isEmpty { open[last].blocks.append(.table(head: done.head, rows: done.rows)) }
      open[last].blocks += done.blocks
    default: open[last].blocks += done.blocks
    }
  }

  private func span(_ done: Open, _ tag: HTMLTag) -> RichSpan {
    switch tag {
    case .b, .strong: return .styled(.bold, done.spans)
    case .i, .em: return .styled(.italic, done.spans)
    case .u: return .styled(.underline, done.spans)
    case .s, .del: return .styled(.strike, done.spans)
    case .sub: return .styled(.subscripted, done.spans)
    case .sup: return .styled(.superscripted, done.spans)
    case .code: return .styled(.code, done.spans)
    case .a:
      if let link = Permalink(ByteString(done.value)), let mention = mention(link) { return .mention(mention) }
      return .link(url: done.value, done.spans)
    default: return .spoiler(reason: done.value, FormattedBody.trimmed(done.spans))
    }
  }

  // MARK: Attributes

  private func text(_ attribute: HTMLAttribute, of tag: HTMLTag) -> String {
    String(decoding: reader.value(of: attribute, in: tag) ?? [], as: UTF8.self)
  }

  private mutating func readLanguage() {
    let language = Array(text(.class, of: .code).utf8.dropFirst(9))
    open[open.count - 1].value = String(decoding: language, as: UTF8.self)
  }

  private mutating func addPicture() {
    guard pictures < FormattedBody.picturesLimit, let uri = MediaURI(ByteString(text(.src, of: .img))) else {
      return write(reader.value(of: .alt, in: .img) ?? [])
    }
    pictures += 1
    let name = text(.alt, of: .img)
    add(.emoji(name: name.utf8.isEmpty ? text(.title, of: .img) : name, source: picture(uri)))
    hasSpace = false
  }

  private static func isBlock(_ tag: HTMLTag) -> Bool { tag.isBlock || tag == .td || tag == .th }

  /// Lines that hold no blocks.
  private static func isFlat(_ tag: HTMLTag) -> Bool {
    switch tag {
    case .h1, .h2, .h3, .h4, .h5, .h6, .td, .th, .span: true
    default: false
    }
  }
}
