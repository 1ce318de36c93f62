/// Bytes as ASCII, without locale and without Unicode tables.
enum ASCII {
  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

  /// Whether two texts are equal when A-Z counts as a-z.
  static func equal(_ left: some Sequence<UInt8>, _ right: StaticString) -> Bool {
    var count = 0
    for byte in left {
      guard count < right.utf8CodeUnitCount, lowercased(byte) == lowercased(right.utf8Start[count]) else { return false }
      count += 1
    }
    return count == right.utf8CodeUnitCount
  }

  /// The members of a comma-separated list, without the blanks around them; empty members are left out. RFC 9110 §5.6.1.
  static func list(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
    return bytes
  }

  /// A decimal number of digits only; nil when empty, when anything else is in it, or when it does not fit.
  static func number(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in bytes {
      guard byte &- 48 < 10 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.addingReportingOverflow(Int64(byte &- 48))
      guard !overflow, !overflow2 else { return nil }
      value = sum
    }
    return value
  }
}
