import JSON

/// The `order` of a space's children: texts between which there is always another, until they become too long.
///
/// Spec: `m.space.child`: 1 to 50 characters from U+0020 to U+007E. Read here as digits of a fraction to the base 95.
package enum SpaceOrder {
  private static let lengthLimit = 50
  private static let first: UInt8 = 0x20
  private static let last: UInt8 = 0x7E
  private static let base = 95

  package static func isValid(_ order: ByteString) -> Bool {
    order.count <= lengthLimit && order.utf8.allSatisfy { $0 >= first && $0 <= last }
  }

  /// That many orders between the two, evenly apart, in ascending order; nil where there is no room.
  /// - Parameters:
  ///   - low: nil for the beginning.
  ///   - high: nil for the end.
  package static func between(_ low: ByteString?, _ high: ByteString?, count: Int) -> [ByteString]? {
    guard count > 0 else { return [] }
    let lower = low.map { digits($0) } ?? []
    let upper = high.map { digits($0) }
    var length = max(lower.count, upper?.count ?? 0, 1)
    // Few digits first: at most four more hold a hundred million.
    while length <= min(lengthLimit, max(lower.count, upper?.count ?? 0) + 4) {
      if let found = spread(padded(lower, length), upper.map { padded($0, length) }, count, length) {
        return found
      }
      length += 1
    }
    return nil
  }

  private static func digits(_ order: ByteString) -> [Int] { order.utf8.map { Int($0 - first) } }

  private static func padded(_ digits: [Int], _ length: Int) -> [Int] {
    digits + [Int](repeating: 0, count: length - digits.count)
  }

  /// nil where the gap is too small for digits of that length. An `upper` of nil is 1, which has a digit before the point.
  private static func spread(_ lower: [Int], _ upper: [Int]?, _ count: Int, _ length: Int) -> [ByteString]? {
    var gap = difference(upper, lower)
    let step = divide(&gap, by: count + 1)
    guard step.contains(where: { $0 > 0 }) else { return nil }
    var value = lower
    var found: [ByteString] = []
    for _ in 0..<count {
      add(step, to: &value)
      found.append(text(value))
    }
    return found
  }

  /// One digit more than they have, the first before the point.
  private static func difference(_ upper: [Int]?, _ lower: [Int]) -> [Int] {
    var result = [upper == nil ? 1 : 0] + (upper ?? [Int](repeating: 0, count: lower.count))
    for i in lower.indices.reversed() {
      result[i + 1] -= lower[i]
      if result[i + 1] < 0 {
        result[i + 1] += base
        result[i] -= 1
      }
    }
    // The wrong way round: no gap.
    return result[0] < 0 ? [Int](repeating: 0, count: result.count) : result
  }

  /// Digits behind the point of the quotient.
  private static func divide(_ digits: inout [Int], by divisor: Int) -> [Int] {
    var rest = 0
    for i in digits.indices {
      let value = rest * base + digits[i]
      digits[i] = value / divisor
      rest = value % divisor
    }
    return Array(digits.dropFirst())
  }

  private static func add(_ step: [Int], to value: inout [Int]) {
    var carry = 0
    for i in value.indices.reversed() {
      let sum = value[i] + step[i] + carry
      value[i] = sum % base
      carry = sum / base
    }
  }

  private static func text(_ digits: [Int]) -> ByteString {
    ByteString(decoding: digits.map { UInt8($0) + first })
  }
}
