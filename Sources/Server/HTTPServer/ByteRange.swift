/// One range of bytes a client asks for. RFC 9110 §14.
enum ByteRange: Equatable {
  /// Not a single range of bytes: the whole is answered, as the standard allows.
  case whole
  case part(Range<Int64>)
  /// The range begins behind the end: 416.
  case unsatisfiable

  /// - Parameters:
  ///   - value: of the Range field.
  ///   - size: bytes the whole has.
  static func parse(_ value: ArraySlice<UInt8>, size: Int64) -> ByteRange {
    guard let equals = value.firstIndex(of: UInt8(ascii: "=")), ASCII.equal(value[..<equals], "bytes") else { return .whole }
    let ranges = ASCII.list(value[(equals + 1)...])
    guard ranges.count == 1, let dash = ranges[0].firstIndex(of: UInt8(ascii: "-")) else { return .whole }
    let first = ranges[0][..<dash]
    let last = ranges[0][(dash + 1)...]
    if first.isEmpty {
      guard let count = ASCII.number(last) else { return .whole }
      guard count > 0, size > 0 else { return .unsatisfiable }
      return .part(max(0, size - count)..<size)
    }
    guard let start = ASCII.number(first) else { return .whole }
    var end = size - 1
    if !last.isEmpty {
      guard let wanted = ASCII.number(last), wanted >= start else { return .whole }
      end = min(wanted, size - 1)
    }
    guard start < size else { return .unsatisfiable }
    return .part(start..<end + 1)
  }
}
