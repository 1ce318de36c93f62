import JSON
import MatrixModel

extension RandomSource {
  /// Somewhere in the upper half of the time.
  mutating func jitter(_ milliseconds: Int64) -> Int64 {
    milliseconds / 2 + next(below: milliseconds / 2)
  }

  /// 16 letters and digits. Spec: Appendices, "Opaque Identifiers".
  mutating func name() -> ByteString {
    var bytes: [UInt8] = []
    var bits = next()
    for i in 0..<16 {
      if i == 8 { bits = next() }
      bytes.append(Self.alphabet[Int(bits & 31)])
      bits >>= 5
    }
    return ByteString(decoding: bytes)
  }

  private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}

/// The earlier of two times, where nil is never.
func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
  guard let one, let other else { return one ?? other }
  return min(one, other)
}
