/// How hard a code is to read. ISO/IEC 18004:2015, §7.8.3.
enum QRPenalty {
  static func of(_ modules: [Bool], size: Int) -> Int {
    var penalty = 0
    for line in 0..<size {
      penalty += ofLine(modules[(line * size)..<((line + 1) * size)])
      penalty += ofLine(stride(from: line, to: size * size, by: size).map { modules[$0] }[...])
    }
    // Squares of two by two modules of one colour.
    for y in 0..<(size - 1) {
      for x in 0..<(size - 1) {
        let first = modules[y * size + x]
        if first == modules[y * size + x + 1], first == modules[(y + 1) * size + x], first == modules[(y + 1) * size + x + 1] {
          penalty += 3
        }
      }
    }
    // Ten for each 5 % that the share of dark modules is away from a half.
    let dark = modules.count { $0 }
    return penalty + abs(dark * 20 - size * size * 10) / (size * size) * 10
  }

  /// Runs of five and more, and what looks like a finder: runs of 1, 1, 3, 1 and 1 modules with four light ones beside them.
  private static func ofLine(_ line: ArraySlice<Bool>) -> Int {
    var penalty = 0
    var run = 0
    var last: Bool?
    /// The newest eleven modules, with the light border before the line.
    var window = 0
    func ends(_ window: Int) -> Int { window == 0b000_0101_1101 || window == 0b101_1101_0000 ? 40 : 0 }
    for module in line {
      run = module == last ? run + 1 : 1
      if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
      last = module
      window = (window << 1 | (module ? 1 : 0)) & 0x7FF
      penalty += ends(window)
    }
    for _ in 0..<4 {
      window = window << 1 & 0x7FF
      penalty += ends(window)
    }
    return penalty
  }
}
