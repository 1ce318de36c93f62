public import JSON

/// A few cosines that stand for a picture while it loads, in 6 to 166 characters.
///
/// The picture's linear light is projected onto products of cosines; the first of them, the mean colour, is kept exactly as 24 bits of
/// sRGB, each of the others as three values from 0 to 18 (a signed square root, scaled by the largest), everything in base 83.
/// Source: the algorithm's description, https://github.com/woltapp/blurhash/blob/master/Algorithm.md.
public enum Blurhash {
  /// - Parameters:
  ///   - pixels: rows from the top, each pixel 4 bytes of sRGB: red, green, blue and one that does not count. A small copy of the picture
  ///     (some 32 pixels wide) gives the same.
  ///   - horizontal: components in that direction, 1 to 9.
  ///   - vertical: likewise.
  /// - Returns: nil where the sizes do not fit together or the picture has more than 2^20 pixels. O(pixels · components).
  public static func encode(_ pixels: [UInt8], width: Int, height: Int, horizontal: Int = 4, vertical: Int = 3) -> ByteString? {
    guard (1...9).contains(horizontal), (1...9).contains(vertical), width > 0, height > 0, width <= pixelsLimit / height,
      pixels.count == width * height * 4
    else { return nil }
    var factors = components(pixels, width, height, horizontal, vertical)
    let mean = factors.removeFirst()
    var text = [UInt8]()
    append((horizontal - 1) + (vertical - 1) * 9, digits: 1, to: &text)
    let largest = factors.reduce(0) { max($0, $1.magnitude) }
    var scale = 1.0
    if factors.isEmpty {
      append(0, digits: 1, to: &text)
    } else {
      let quantised = max(0, min(82, Int(largest * 166 - 0.5)))
      scale = Double(quantised + 1) / 166
      append(quantised, digits: 1, to: &text)
    }
    append(sRGB(mean.red) << 16 | sRGB(mean.green) << 8 | sRGB(mean.blue), digits: 4, to: &text)
    for factor in factors {
      let (red, green, blue) = (level(factor.red / scale), level(factor.green / scale), level(factor.blue / scale))
      append((red * 19 + green) * 19 + blue, digits: 2, to: &text)
    }
    return ByteString(decoding: text)
  }

  static let pixelsLimit = 1 << 20

  private struct Colour {
    var red = 0.0
    var green = 0.0
    var blue = 0.0

    var magnitude: Double { max(abs(red), max(abs(green), abs(blue))) }
  }

  private static func components(
    _ pixels: [UInt8], _ width: Int, _ height: Int, _ horizontal: Int, _ vertical: Int
  ) -> [Colour] {
    let light = (0...255).map { linear(Double($0) / 255) }
    let columns = (0..<horizontal).map { i in (0..<width).map { cosine(i * $0, over: width) } }
    let rows = (0..<vertical).map { j in (0..<height).map { cosine(j * $0, over: height) } }
    var sums = [Colour](repeating: Colour(), count: horizontal * vertical)
    for y in 0..<height {
      // The sums of one row first: its cosine is the same for all of them.
      var line = [Colour](repeating: Colour(), count: horizontal)
      for x in 0..<width {
        let offset = (y * width + x) * 4
        let (red, green, blue) = (light[Int(pixels[offset])], light[Int(pixels[offset + 1])], light[Int(pixels[offset + 2])])
        for i in 0..<horizontal {
          line[i].red += columns[i][x] * red
          line[i].green += columns[i][x] * green
          line[i].blue += columns[i][x] * blue
        }
      }
      for j in 0..<vertical {
        for i in 0..<horizontal {
          sums[j * horizontal + i].red += rows[j][y] * line[i].red
          sums[j * horizontal + i].green += rows[j][y] * line[i].green
          sums[j * horizontal + i].blue += rows[j][y] * line[i].blue
        }
      }
    }
    for k in sums.indices {
      let weight = (k == 0 ? 1.0 : 2.0) / Double(width * height)
      sums[k].red *= weight
      sums[k].green *= weight
      sums[k].blue *= weight
    }
    return sums
  }

  private static func append(_ value: Int, digits: Int, to text: inout [UInt8]) {
    let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
    var divisor = 1
    for _ in 1..<digits { divisor *= 83 }
    while divisor > 0 {
      text.append(alphabet[value / divisor % 83])
      divisor /= 83
    }
  }

  /// -1 to 1 as 0 to 18.
  private static func level(_ value: Double) -> Int {
    let root = value < 0 ? -root(-value, 2) : root(value, 2)
    return max(0, min(18, Int(root * 9 + 9.5)))
  }

  // MARK: Functions that the portable library lacks

  private static func linear(_ value: Double) -> Double {
    if value <= 0.04045 { return value / 12.92 }
    let base = (value + 0.055) / 1.055
    return base * base * root(base * base, 5)
  }

  private static func sRGB(_ value: Double) -> Int {
    let light = max(0, min(1, value))
    if light <= 0.0031308 { return Int(light * 12.92 * 255 + 0.5) }
    // To the power of 5/12.
    let power = light * light * light * light * light
    return Int((1.055 * root(root(root(power, 3), 2), 2) - 0.055) * 255 + 0.5)
  }

  /// By Newton's method, for values from 0 to 1.
  private static func root(_ value: Double, _ degree: Int) -> Double {
    if value <= 0 { return 0 }
    var guess = 1.0
    for _ in 0..<100 {
      var power = 1.0
      for _ in 1..<degree { power *= guess }
      let next = guess + (value / power - guess) / Double(degree)
      if abs(next - guess) < 1e-16 { return next }
      guess = next
    }
    return guess
  }

  /// cos(π · numerator / denominator), by its series within a quarter of the circle.
  private static func cosine(_ numerator: Int, over denominator: Int) -> Double {
    var turn = numerator % (2 * denominator)
    if turn > denominator { turn = 2 * denominator - turn }
    let isNegative = 2 * turn > denominator
    if isNegative { turn = denominator - turn }
    let angle = Double.pi * Double(turn) / Double(denominator)
    var term = 1.0
    var sum = 1.0
    for n in 1...12 {
      term *= -angle * angle / Double((2 * n - 1) * (2 * n))
      sum += term
    }
    return isNegative ? -sum : sum
  }
}
