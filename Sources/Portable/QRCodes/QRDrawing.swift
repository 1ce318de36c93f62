/// The modules of a code: first the patterns that are the same in each code of the version, then the codewords around them.
/// ISO/IEC 18004:2015, §6.3 and §7.7 to §7.10.
struct QRDrawing {
  private let version: QRVersion
  private let size: Int
  private var modules: [Bool]
  /// Modules that no codeword lies in and no mask changes.
  private var isFixed: [Bool]

  init(_ version: QRVersion) {
    self.version = version
    size = version.size
    modules = [Bool](repeating: false, count: size * size)
    isFixed = modules
    for place in 0..<size {
      fix(6, place, place % 2 == 0)
      fix(place, 6, place % 2 == 0)
    }
    drawFinders()
    drawAlignments()
    drawVersion()
    drawFormat(mask: 0)
  }

  private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
    guard x >= 0, y >= 0, x < size, y < size else { return }
    modules[y * size + x] = isDark
    isFixed[y * size + x] = true
  }

  /// The squares in three corners, with a light line around each.
  private mutating func drawFinders() {
    for (left, top) in [(3, 3), (size - 4, 3), (3, size - 4)] {
      for y in -4...4 {
        for x in -4...4 {
          let ring = max(abs(x), abs(y))
          fix(left + x, top + y, ring != 2 && ring != 4)
        }
      }
    }
  }

  private mutating func drawAlignments() {
    let centres = version.alignmentCentres
    for centreY in centres {
      for centreX in centres {
        // Three of the corners have a finder.
        let last = size - 7
        if (centreX == 6 && (centreY == 6 || centreY == last)) || (centreX == last && centreY == 6) { continue }
        for y in -2...2 {
          for x in -2...2 { fix(centreX + x, centreY + y, max(abs(x), abs(y)) != 1) }
        }
      }
    }
  }

  /// Twice the version's number with its error correction, from version 7 on.
  private mutating func drawVersion() {
    guard version.number >= 7 else { return }
    let bits = Self.corrected(version.number, by: 0x1F25, bits: 12)
    for bit in 0..<18 {
      let isDark = bits >> bit & 1 == 1
      fix(size - 11 + bit % 3, bit / 3, isDark)
      fix(bit / 3, size - 11 + bit % 3, isDark)
    }
  }

  /// Twice the level and the mask with their error correction, and the module that is always dark.
  private mutating func drawFormat(mask: Int) {
    // Level M has the number 0.
    let bits = Self.corrected(mask, by: 0x537, bits: 10) ^ 0x5412
    for bit in 0..<15 {
      let isDark = bits >> bit & 1 == 1
      switch bit {
      case 0..<6: fix(8, bit, isDark)
      case 6, 7: fix(8, bit + 1, isDark)
      case 8: fix(7, 8, isDark)
      default: fix(14 - bit, 8, isDark)
      }
      if bit < 8 { fix(size - 1 - bit, 8, isDark) } else { fix(8, size - 15 + bit, isDark) }
    }
    fix(8, size - 8, true)
  }

  /// The value with so many bits of its remainder by the polynomial behind it.
  private static func corrected(_ value: Int, by polynomial: Int, bits: Int) -> Int {
    var remainder = value
    for _ in 0..<bits { remainder = remainder << 1 ^ (remainder >> (bits - 1)) * polynomial }
    return value << bits | remainder
  }

  /// Puts the codewords into pairs of columns, from the right, up and down in turn.
  mutating func place(_ codewords: [UInt8]) {
    var bit = 0
    var right = size - 1
    while right > 0 {
      // The column with the dotted line is passed over.
      if right == 6 { right = 5 }
      let isUpwards = (right + 1) & 2 == 0
      for step in 0..<size {
        let y = isUpwards ? size - 1 - step : step
        for x in [right, right - 1] where !isFixed[y * size + x] && bit < codewords.count * 8 {
          modules[y * size + x] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
          bit += 1
        }
      }
      right -= 2
    }
  }

  /// All modules under one of the masks, 0 to 7.
  func masked(_ mask: Int) -> [Bool] {
    var drawing = self
    drawing.drawFormat(mask: mask)
    for y in 0..<size {
      for x in 0..<size where !isFixed[y * size + x] && Self.isInverted(x, y, mask) {
        drawing.modules[y * size + x].toggle()
      }
    }
    return drawing.modules
  }

  private static func isInverted(_ x: Int, _ y: Int, _ mask: Int) -> Bool {
    switch mask {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }
}
