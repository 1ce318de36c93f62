import ClientCore
import JSON
import MatrixModel

/// How far a room is in the index. Its record is `[next span, walk, [[span, newest block], …]]`, where the walk is the position that it has come to, `""` before
/// it begins, and `null` at its end.
struct IndexedRoom: Sendable {
  enum Walk: Sendable, Equatable {
    /// Segments before this one are still to be indexed; nil for all.
    case before(SegmentPosition?)
    case done
  }

  struct Span: Sendable {
    let number: Int
    let newestBlock: Int64
  }

  var nextSpan = 0
  var walk = Walk.before(nil)
  var spans: [Span] = []
  /// Stored since the walk was there, and in no span.
  var new: Set<SegmentPosition> = []
  /// Events without keys, by their segments.
  var unread: [SegmentPosition: [Int]] = [:]
  /// Whether keys may have come for them.
  var hasNewKeys = false

  init() {}

  init?(record: [UInt8]) {
    guard let json = try? JSON.parse(record), json.isArray else { return nil }
    let parts = Array(json.elements)
    guard parts.count == 3, let next = parts[0].integer.flatMap({ Int(exactly: $0) }), next >= 0 else { return nil }
    nextSpan = next
    if let text = parts[1].text { walk = .before(SegmentPosition(key: text)) } else { walk = .done }
    for part in parts[2].elements {
      let pair = Array(part.elements)
      guard pair.count == 2, let number = pair[0].integer, let block = pair[1].integer else { return nil }
      spans.append(Span(number: Int(number), newestBlock: block))
    }
  }

  var record: [UInt8] {
    var text = "[\(nextSpan),"
    switch walk {
    case .before(let position): text += "\"" + (position?.text ?? "") + "\""
    case .done: text += "null"
    }
    text += ",["
    for (i, span) in spans.enumerated() { text += (i > 0 ? "," : "") + "[\(span.number),\(span.newestBlock)]" }
    return Array((text + "]]").utf8)
  }

  /// Whether the walk has been there.
  func isBehind(_ position: SegmentPosition) -> Bool {
    switch walk {
    case .done: true
    case .before(let end): end.map { !(position < $0) } ?? false
    }
  }
}
