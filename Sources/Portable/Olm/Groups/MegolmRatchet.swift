/// A ratchet that moves forwards quickly and never back: its holder can read everything from its index on.
///
/// It has four parts of 256 bits. Each step replaces the last part by its hash. Every 2⁸ steps the last part starts anew from the third,
/// every 2¹⁶ the last two from the second, every 2²⁴ the last three from the first. So about 1,020 hashes lead to any index.
/// Spec: "Megolm group ratchet", "The Megolm ratchet algorithm".
struct MegolmRatchet: Sendable {
  static let partByteCount = 32
  static let byteCount = 4 * partByteCount

  private var parts: [Secret]
  private(set) var index: UInt32

  /// The secret has `byteCount` bytes.
  init(_ secret: Secret, index: UInt32) {
    parts = (0..<4).map { secret.part($0 * Self.partByteCount..<($0 + 1) * Self.partByteCount) }
    self.index = index
  }

  var secret: Secret { Secret(joining: parts) }

  mutating func advance() throws(OlmError) {
    guard index < UInt32.max else { throw .exhausted }
    advance(to: index + 1)
  }

  /// The target does not lie before the index.
  mutating func advance(to target: UInt32) {
    for part in 0..<4 {
      let shift = UInt32(24 - 8 * part)
      let steps = (target >> shift) &- (index >> shift)
      guard steps > 0 else { continue }
      // The later parts start anew at each step, so only the last step counts for them.
      for _ in 1..<steps { parts[part] = parts[part].advanced(by: UInt8(part)) }
      let origin = parts[part]
      for later in part..<4 { parts[later] = origin.advanced(by: UInt8(later)) }
      index = (target >> shift) << shift
    }
  }
}
