/// One value or key on the tape, 12 bytes.
///
/// The tape is the document in source order, a container's entries after the container: `{"a":[1,2]}` is object, "a", array,
/// 1, 2. `next` of an entry is the index behind it and all that it contains, so a subtree is skipped in one step.
struct JSONNode: Sendable {
  enum Kind: UInt8 { case null, isFalse, isTrue, integer, number, string, escapedString, array, object }

  private let startAndKind: UInt32
  private(set) var endOffset: UInt32
  private(set) var nextIndex: UInt32

  @inline(__always)
  init(_ kind: Kind, start: Int, end: Int, next: Int) {
    startAndKind = UInt32(truncatingIfNeeded: start) << 4 | UInt32(kind.rawValue)
    endOffset = UInt32(truncatingIfNeeded: end)
    nextIndex = UInt32(truncatingIfNeeded: next)
  }

  @inline(__always)
  mutating func close(end: Int, next: Int) {
    endOffset = UInt32(truncatingIfNeeded: end)
    nextIndex = UInt32(truncatingIfNeeded: next)
  }

  /// Only `init` writes the four bits, from a `Kind`.
  var kind: Kind {
    @inline(__always) get { unsafeBitCast(UInt8(truncatingIfNeeded: startAndKind & 15), to: Kind.self) }
  }

  /// First byte of the value; of a string the byte after the quote.
  var start: Int { @inline(__always) get { Int(startAndKind >> 4) } }
  /// Byte after the value; of a string the closing quote.
  var end: Int { @inline(__always) get { Int(endOffset) } }
  var next: Int { @inline(__always) get { Int(nextIndex) } }
}

/// The bytes and their tape: what a `JSON` cursor points into.
final class JSONDocument: Sendable {
  let source: [UInt8]
  let nodes: [JSONNode]

  init(source: [UInt8], nodes: [JSONNode]) {
    self.source = source
    self.nodes = nodes
  }
}
