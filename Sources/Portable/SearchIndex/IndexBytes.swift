import JSON

/// Numbers of the index's records: seven bits a byte, the lowest first.
extension [UInt8] {
  mutating func append(number: Int) {
    var rest = UInt64(Swift.max(number, 0))
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}

/// Reads a record. A damaged one ends early.
struct IndexReader {
  private let source: [UInt8]
  private(set) var position = 0

  init(_ source: [UInt8]) { self.source = source }

  var isAtEnd: Bool { position >= source.count }

  /// nil at the end, and for what is no number of 48 bits.
  mutating func number() -> Int? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while position < source.count, shift <= 42 {
      let byte = source[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int(exactly: number) }
      shift += 7
    }
    return nil
  }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= source.count - position else { return nil }
    defer { position += count }
    return source[position..<position + count]
  }

  mutating func word() -> UInt32? {
    guard let bytes = bytes(4) else { return nil }
    var word: UInt32 = 0
    for byte in bytes.reversed() { word = word << 8 | UInt32(byte) }
    return word
  }
}
