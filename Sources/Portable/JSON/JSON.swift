/// A JSON value: a cursor into a parsed document. Nothing is decoded until asked for; copying costs a retain.
///
/// Accessors answer nil where the value is of another kind, so that a chain reads like the path:
/// `event["content"]?["body"]?.string`. Where a key stands twice in an object the first counts; `canonical` refuses it.
public struct JSON: Sendable {
  public enum Kind: Sendable { case null, bool, number, string, array, object }

  let document: JSONDocument
  let index: Int

  /// Parses one value that takes up all of `bytes` (UTF-8). O(bytes), about 2.8 GB/s.
  public static func parse(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSON {
    JSON(document: JSONDocument(source: bytes, nodes: try JSONParser.tape(of: bytes, limits: limits)), index: 0)
  }

  var node: JSONNode { @inline(__always) get { document.nodes[index] } }

  public var kind: Kind {
    switch node.kind {
    case .null: .null
    case .isFalse, .isTrue: .bool
    case .integer, .number: .number
    case .string, .escapedString: .string
    case .array: .array
    case .object: .object
    }
  }

  public var isNull: Bool { node.kind == .null }
  public var isObject: Bool { node.kind == .object }
  public var isArray: Bool { node.kind == .array }
  public var isString: Bool { kind == .string }

  public var bool: Bool? {
    switch node.kind {
    case .isTrue: true
    case .isFalse: false
    default: nil
    }
  }

  /// The value of a number without fraction or exponent that fits into 64 bits.
  public var integer: Int64? {
    let node = node
    guard node.kind == .integer else { return nil }
    var value: Int64 = 0
    let isNegative = document.source[node.start] == UInt8(ascii: "-")
    for i in (isNegative ? node.start + 1 : node.start)..<node.end {
      let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
      let (next, carry) = shifted.subtractingReportingOverflow(Int64(document.source[i] - UInt8(ascii: "0")))
      if overflow || carry { return nil }
      value = next
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  /// A string, its escapes resolved.
  public var string: String? {
    let node = node
    switch node.kind {
    case .string: return withSource(node.start..<node.end) { String(decoding: $0, as: UTF8.self) }
    case .escapedString: return text?.string
    default: return nil
    }
  }

  /// A string, its escapes resolved, compared by bytes.
  public var text: ByteString? {
    let node = node
    switch node.kind {
    case .string: return withSource(node.start..<node.end) { ByteString(checked: Array($0)) }
    case .escapedString: return withSource(node.start..<node.end) { ByteString(checked: JSONEscape.decode($0)) }
    default: return nil
    }
  }

  /// Whether this is a string of just these bytes. Decodes nothing where there are no escapes.
  public func isString(_ other: StaticString) -> Bool {
    let node = node
    switch node.kind {
    case .string:
      return node.end - node.start == other.utf8CodeUnitCount
        && withSource(node.start..<node.end) { equal($0.baseAddress, other.utf8Start, $0.count) }
    case .escapedString: return text.map { $0 == other } ?? false
    default: return false
    }
  }

  /// The exact source bytes of the value, quotes and brackets included.
  public var bytes: ArraySlice<UInt8> {
    let node = node
    let quote = kind == .string ? 1 : 0
    return document.source[(node.start - quote)..<(node.end + quote)]
  }

  /// Entries of an array or members of an object; 0 for other kinds. O(entries).
  public var count: Int {
    switch node.kind {
    case .array: elements.reduce(into: 0) { count, _ in count += 1 }
    case .object: members.reduce(into: 0) { count, _ in count += 1 }
    default: 0
    }
  }

  @inline(__always)
  func withSource<R>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    document.source.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }
}
