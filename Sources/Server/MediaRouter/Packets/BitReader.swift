/// Reads bits from the most significant on.
package struct BitReader {
  private var position = 0
  private let count: Int

  package init(_ bytes: RawSpan) { count = 8 * bytes.byteCount }

  /// A number below `limit`, at least 1, in as few bits as it needs. AV1 specification, 4.10.7 (`ns(n)`).
  package mutating func readBelow(_ limit: UInt32, of bytes: RawSpan) -> UInt32? {
    let width = 32 - limit.leadingZeroBitCount
    let short = (1 << UInt32(width)) - limit
    guard let value = read(width - 1, of: bytes) else { return nil }
    guard value >= short else { return value }
    return read(1, of: bytes).map { value << 1 - short + $0 }
  }

  /// nil beyond the end. At most 32 bits.
  package mutating func read(_ width: Int, of bytes: RawSpan) -> UInt32? {
    guard position + width <= count else { return nil }
    var value: UInt32 = 0
    for _ in 0..<width {
      value = value << 1 | UInt32(bytes.uint8(at: position / 8) >> (7 - position % 8) & 1)
      position += 1
    }
    return value
  }
}
