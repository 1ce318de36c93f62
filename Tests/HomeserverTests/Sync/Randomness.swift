import Glibc

/// Repeatable dice: a failing test names its seed.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    // SplitMix64.
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// How much a property test tries: `MARTLET_LONG=1` tries as much as the issue asks for, `MARTLET_SEED` begins elsewhere.
enum Trials {
  static func count(_ usual: Int, long: Int) -> Int { getenv("MARTLET_LONG") == nil ? usual : long }

  static var seed: Int { getenv("MARTLET_SEED").flatMap { Int(String(cString: $0)) } ?? 1 }
}
