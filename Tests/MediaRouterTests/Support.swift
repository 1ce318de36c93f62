@testable import MediaRouter
import Testing

/// Bytes written as hexadecimal digits; spaces and line breaks do not count.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) } }
}

/// Gives a parser what a network may: the bytes cut at every length, with bits flipped, and random ones.
func attack(_ sample: [UInt8], rounds: Int = 2000, seed: UInt64 = 1, _ parse: ([UInt8]) -> Void) {
  for count in 0...sample.count { parse(Array(sample[..<count])) }
  var random = SeededGenerator(seed: seed)
  for _ in 0..<rounds {
    var bytes = sample
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
    }
    if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
    parse(bytes)
    parse(random.bytes(Int.random(in: 0...80, using: &random)))
  }
}

// The macros of Testing take no spans.

extension STUNMessage {
  init?(_ bytes: [UInt8]) { self.init(bytes.span.bytes) }
  func isAuthentic(_ bytes: [UInt8], key: HMACSHA1) -> Bool { isAuthentic(bytes.span.bytes, key: key) }
  func hasFingerprint(_ bytes: [UInt8]) -> Bool { hasFingerprint(bytes.span.bytes) }
}

extension DatagramKind {
  init?(_ bytes: [UInt8]) { self.init(bytes.span.bytes) }
}

extension RTPHeader {
  init?(_ bytes: [UInt8], isSealed: Bool = false) { self.init(bytes.span.bytes, isSealed: isSealed) }
}

extension HeaderExtensions {
  static func value(_ id: UInt8, of header: RTPHeader, in bytes: [UInt8]) -> Range<Int>? {
    value(id, of: header, in: bytes.span.bytes)
  }
}

extension TransportFeedback {
  init?(_ bytes: [UInt8]) { self.init(bytes.span.bytes) }
}
