import JSON

extension JSON {
  /// A number from 0 to 2^53 − 1: a size, a length.
  package var natural: Int64? { integer.flatMap { $0 >= 0 && $0 <= Int64(JSON.integerMagnitudeLimit) ? $0 : nil } }

  /// A count: 0 to 2^30 − 1, larger ones become that, so that two of them still add up in the 32 bits of wasm.
  package var count32: Int? {
    guard let value = integer, value >= 0 else { return nil }
    return Int(min(value, JSON.countLimit))
  }

  package static let countLimit: Int64 = 1 << 30 - 1
}
