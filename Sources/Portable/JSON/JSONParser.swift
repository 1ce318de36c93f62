/// One pass over UTF-8 bytes that checks the grammar of RFC 8259 and lays down the tape. Nothing is decoded or copied.
///
/// State is passed `inout` to static functions: a nested function that captures it costs a dynamic exclusivity check for
/// each access (measured: 3.5 times slower).
enum JSONParser {
  static func tape(of source: [UInt8], limits: JSONLimits) throws(JSONError) -> [JSONNode] {
    guard source.count <= limits.bytes else { throw JSONError(.tooLarge, at: limits.bytes) }
    var tape: ContiguousArray<JSONNode> = []
    tape.reserveCapacity(source.count / 10 + 8)
    try source.span.withUnsafeBufferPointer { (bytes) throws(JSONError) in
      guard let base = bytes.baseAddress else { throw JSONError(.syntax, at: 0) }
      try run(base, bytes.count, depthLimit: limits.depth, &tape)
    }
    return Array(tape)
  }

  private static func run(
    _ p: UnsafePointer<UInt8>, _ count: Int, depthLimit: Int, _ tape: inout ContiguousArray<JSONNode>
  ) throws(JSONError) {
    var i = 0
    var depth = 0
    // Of the innermost open container, -1 outside of all. Until a container is closed, its `next` has what is around it.
    var innermost = -1
    var inObject = false
    skipSpace(p, count, &i)
    value: while true {
      guard i < count else { throw JSONError(.syntax, at: i) }
      switch p[i] {
      case UInt8(ascii: "\""):
        tape.append(try string(p, count, &i, tape.count))
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth < depthLimit else { throw JSONError(.tooDeep, at: i) }
        inObject = p[i] == UInt8(ascii: "{")
        let outer = innermost
        innermost = tape.count
        depth &+= 1
        tape.append(JSONNode(inObject ? .object : .array, start: i, end: 0, next: outer &+ 1))
        i &+= 1
        skipSpace(p, count, &i)
        guard i < count else { throw JSONError(.syntax, at: i) }
        if p[i] == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { break }
        if inObject { try key(p, count, &i, &tape) }
        continue value
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        tape.append(try number(p, count, &i, tape.count))
      case UInt8(ascii: "t"):
        tape.append(try word("true", .isTrue, p, count, &i, tape.count))
      case UInt8(ascii: "f"):
        tape.append(try word("false", .isFalse, p, count, &i, tape.count))
      case UInt8(ascii: "n"):
        tape.append(try word("null", .null, p, count, &i, tape.count))
      default:
        throw JSONError(.syntax, at: i)
      }
      // Behind a value, or behind the opening of an empty container: close what closes, or go on to the next entry.
      while true {
        skipSpace(p, count, &i)
        guard innermost >= 0 else {
          guard i == count else { throw JSONError(.trailingBytes, at: i) }
          return
        }
        guard i < count else { throw JSONError(.syntax, at: i) }
        if p[i] == UInt8(ascii: ",") {
          i &+= 1
          skipSpace(p, count, &i)
          if inObject { try key(p, count, &i, &tape) }
          continue value
        }
        guard p[i] == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw JSONError(.syntax, at: i) }
        i &+= 1
        let outer = tape[innermost].next &- 1
        tape[innermost].close(end: i, next: tape.count)
        innermost = outer
        depth &-= 1
        if outer >= 0 { inObject = tape[outer].kind == .object }
      }
    }
  }

  @inline(__always)
  private static func skipSpace(_ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int) {
    while i < count, p[i] <= 0x20, p[i] == 0x20 || p[i] == 0x0A || p[i] == 0x0D || p[i] == 0x09 { i &+= 1 }
  }

  @inline(__always)
  private static func key(
    _ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int, _ tape: inout ContiguousArray<JSONNode>
  ) throws(JSONError) {
    guard i < count, p[i] == UInt8(ascii: "\"") else { throw JSONError(.syntax, at: i) }
    tape.append(try string(p, count, &i, tape.count))
    skipSpace(p, count, &i)
    guard i < count, p[i] == UInt8(ascii: ":") else { throw JSONError(.syntax, at: i) }
    i &+= 1
    skipSpace(p, count, &i)
  }

  private static func word(
    _ word: StaticString, _ kind: JSONNode.Kind, _ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int, _ index: Int
  ) throws(JSONError) -> JSONNode {
    let length = word.utf8CodeUnitCount
    guard i &+ length <= count, equal(p + i, word.utf8Start, length) else { throw JSONError(.syntax, at: i) }
    defer { i &+= length }
    return JSONNode(kind, start: i, end: i &+ length, next: index &+ 1)
  }

  @inline(__always)
  private static func number(
    _ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int, _ index: Int
  ) throws(JSONError) -> JSONNode {
    let start = i
    var kind = JSONNode.Kind.integer
    if p[i] == UInt8(ascii: "-") { i &+= 1 }
    guard i < count else { throw JSONError(.syntax, at: i) }
    if p[i] == UInt8(ascii: "0") { i &+= 1 } else { try digits(p, count, &i) }
    if i < count, p[i] == UInt8(ascii: ".") {
      kind = .number
      i &+= 1
      try digits(p, count, &i)
    }
    if i < count, p[i] | 0x20 == UInt8(ascii: "e") {
      kind = .number
      i &+= 1
      if i < count, p[i] == UInt8(ascii: "+") || p[i] == UInt8(ascii: "-") { i &+= 1 }
      try digits(p, count, &i)
    }
    return JSONNode(kind, start: start, end: i, next: index &+ 1)
  }

  @inline(__always)
  private static func digits(_ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int) throws(JSONError) {
    let start = i
    while i < count, p[i] &- UInt8(ascii: "0") < 10 { i &+= 1 }
    if i == start { throw JSONError(.syntax, at: i) }
  }

  /// `p[i]` is the opening quote. Eight bytes at a time while none of them needs a look.
  @inline(__always)
  private static func string(
    _ p: UnsafePointer<UInt8>, _ count: Int, _ i: inout Int, _ index: Int
  ) throws(JSONError) -> JSONNode {
    let start = i &+ 1
    var j = start
    var kind = JSONNode.Kind.string
    while true {
      while j &+ 8 <= count {
        let hits = bytesToInspect(UnsafeRawPointer(p + j).loadUnaligned(as: UInt64.self))
        if hits != 0 {
          j &+= hits.trailingZeroBitCount >> 3
          break
        }
        j &+= 8
      }
      guard j < count else { throw JSONError(.syntax, at: j) }
      let byte = p[j]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        kind = .escapedString
        j = try JSONEscape.check(p, count, at: j)
      } else if byte >= 0x80 {
        let length = UTF8Sequence.length(p + j, available: count &- j)
        guard length > 0 else { throw JSONError(.encoding, at: j) }
        j &+= length
      } else if byte >= 0x20 {
        j &+= 1
      } else {
        throw JSONError(.syntax, at: j)
      }
    }
    i = j &+ 1
    return JSONNode(kind, start: start, end: j, next: index &+ 1)
  }

  /// The high bit is set in the first byte that is a quote, a backslash, a control or not ASCII (above it, false hits can be).
  @inline(__always)
  static func bytesToInspect(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    return ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) | word) & (ones &* 0x80)
  }
}

enum UTF8Sequence {
  @inline(never)
  static func isWellFormed(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      guard let p = bytes.baseAddress else { return true }
      var i = 0
      while i < bytes.count {
        if i &+ 8 <= bytes.count, UnsafeRawPointer(p + i).loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
          i &+= 8
        } else if p[i] < 0x80 {
          i &+= 1
        } else {
          let length = length(p + i, available: bytes.count &- i)
          if length == 0 { return false }
          i &+= length
        }
      }
      return true
    }
  }

  /// Bytes of the well-formed multi-byte sequence at `p` (2 to 4), or 0. Source: Unicode 15, table 3-7.
  @inline(never)
  static func length(_ p: UnsafePointer<UInt8>, available: Int) -> Int {
    let lead = p[0]
    switch lead {
    case 0xC2...0xDF:
      return available >= 2 && p[1] & 0xC0 == 0x80 ? 2 : 0
    case 0xE0...0xEF:
      guard available >= 3, p[1] & 0xC0 == 0x80, p[2] & 0xC0 == 0x80 else { return 0 }
      if lead == 0xE0 && p[1] < 0xA0 || lead == 0xED && p[1] > 0x9F { return 0 }
      return 3
    case 0xF0...0xF4:
      guard available >= 4, p[1] & 0xC0 == 0x80, p[2] & 0xC0 == 0x80, p[3] & 0xC0 == 0x80 else { return 0 }
      if lead == 0xF0 && p[1] < 0x90 || lead == 0xF4 && p[1] > 0x8F { return 0 }
      return 4
    default:
      return 0
    }
  }
}
