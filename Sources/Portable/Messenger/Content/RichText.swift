/// Text with a form, as a tree of blocks and spans. It never is markup: the messenger builds its own elements from it.
public struct RichText: Sendable {
  public var blocks: [RichBlock]
  public init(_ blocks: [RichBlock]) { self.blocks = blocks }

  /// How deep blocks and spans may stand in each other; what is deeper is shown as its text.
  public static let depthLimit = 24
  /// Elements that one text may make; what comes after is shown as its text.
  public static let elementsLimit = 2000
  /// Columns and rows of a table that are shown.
  public static let tableLimit = 100
}

public indirect enum RichBlock: Sendable {
  case paragraph([RichSpan])
  /// Level 1...6.
  case heading(level: Int, [RichSpan])
  /// The language may be empty.
  case code(String, language: String)
  case quote([RichBlock])
  /// `start` is the first number of an ordered list, nil of others.
  case list(start: Int?, [[RichBlock]])
  /// The head may be empty.
  case table(head: [[RichSpan]], rows: [[[RichSpan]]])
  case rule
}

public indirect enum RichSpan: Sendable {
  case text(String)
  case styled(SpanStyle, [RichSpan])
  /// Without a scheme that can be opened (`LinkScanner.isSafe`) it is shown as its text.
  case link(url: String, [RichSpan])
  case mention(Mention)
  /// Hidden until a person wants to see it; the reason may be empty.
  case spoiler(reason: String, [RichSpan])
  /// A picture in the line, such as a custom emoji.
  case emoji(name: String, source: String?)
  case lineBreak
}

public enum SpanStyle: UInt8, Sendable {
  case bold, italic, underline, strike, code, subscripted, superscripted
}

/// A person or a room that a text speaks of.
public struct Mention: Sendable {
  /// What the host knows it by, such as a user ID.
  public var id: String
  public var name: String
  /// The reader is meant.
  public var isReader: Bool

  public init(id: String, name: String, isReader: Bool = false) {
    self.id = id
    self.name = name
    self.isReader = isReader
  }
}

extension RichText {
  /// The text alone, with spoilers left out; at most about `limit` bytes.
  public func plain(limit: Int) -> String {
    var out = ""
    RichText.write(blocks, to: &out, limit, depth: 0)
    return out
  }

  private static func write(_ blocks: [RichBlock], to out: inout String, _ limit: Int, depth: Int) {
    guard depth < 200 else { return }
    for block in blocks {
      guard out.utf8.count < limit else { return }
      if !out.utf8.isEmpty { out += " " }
      switch block {
      case .paragraph(let spans), .heading(_, let spans): write(spans, to: &out, limit, depth: depth + 1)
      case .code(let text, _): out += text
      case .quote(let blocks): write(blocks, to: &out, limit, depth: depth + 1)
      case .list(_, let items): for item in items { write(item, to: &out, limit, depth: depth + 1) }
      case .table(let head, let rows):
        for cell in head { write(cell, to: &out, limit, depth: depth + 1) }
        for row in rows {
          for cell in row {
            out += " "
            write(cell, to: &out, limit, depth: depth + 1)
          }
        }
      case .rule: break
      }
    }
  }

  static func write(_ spans: [RichSpan], to out: inout String, _ limit: Int, depth: Int) {
    guard depth < 200 else { return }
    for span in spans {
      guard out.utf8.count < limit else { return }
      switch span {
      case .text(let text): out += text
      case .styled(_, let inner), .link(_, let inner): write(inner, to: &out, limit, depth: depth + 1)
      case .mention(let mention): out += mention.name
      case .spoiler(let reason, _): out += reason
      case .emoji(let name, _): out += name
      case .lineBreak: out += " "
      }
    }
  }
}
