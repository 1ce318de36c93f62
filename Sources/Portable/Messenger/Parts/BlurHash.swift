/// A picture in about thirty letters, decoded to a bitmap of 16 by 16 pixels that stands in a picture's box until it is loaded.
///
/// 83 letters are digits. The first digit holds the number of cosines in both directions, the second the largest factor, the next four
/// the average colour, and every further pair the factors of one cosine for red, green and blue. Source: woltapp/blurhash, "Algorithm".
package enum BlurHash {
  private static let side = 16
  private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

  /// A `data:` address of the bitmap; nil for what is no blurhash.
  package static func image(_ text: String) -> String? {
    guard let pixels = pixels(text) else { return nil }
    // A bitmap: 14 bytes of file header, 40 of picture header, then rows from the bottom up, blue first.
    var bytes: [UInt8] = [0x42, 0x4D]
    func word(_ value: Int) { for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    for value in [54 + pixels.count, 0, 54, 40, side, side, 1 | 24 << 16, 0, pixels.count, 2835, 2835, 0, 0] { word(value) }
    bytes += pixels
    return "data:image/bmp;base64," + base64(bytes)
  }

  /// Blue, green, red of each pixel, from the bottom up.
  static func pixels(_ text: String) -> [UInt8]? {
    var digits: [Int] = []
    for byte in Array(text.utf8) {
      guard let digit = letters.firstIndex(of: byte) else { return nil }
      digits.append(digit)
    }
    guard digits.count >= 6 else { return nil }
    let (across, down) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
    guard digits.count == 4 + 2 * across * down else { return nil }
    let factors = factors(digits, count: across * down)
    let cosines = cosines()
    var pixels: [UInt8] = []
    pixels.reserveCapacity(side * side * 3)
    for y in (0..<side).reversed() {
      for x in 0..<side {
        var (red, green, blue) = (0.0, 0.0, 0.0)
        for j in 0..<down {
          for i in 0..<across {
            let weight = cosines[x * i % 32] * cosines[y * j % 32]
            let factor = factors[j * across + i]
            red += factor.red * weight
            green += factor.green * weight
            blue += factor.blue * weight
          }
        }
        for value in [blue, green, red] { pixels.append(byte(value)) }
      }
    }
    return pixels
  }

  private static func factors(_ digits: [Int], count: Int) -> [(red: Double, green: Double, blue: Double)] {
    let largest = Double(digits[1] + 1) / 166
    let average = ((digits[2] * 83 + digits[3]) * 83 + digits[4]) * 83 + digits[5]
    var factors = [
      (red: linear(average >> 16 & 255), green: linear(average >> 8 & 255), blue: linear(average & 255))
    ]
    for index in 1..<max(1, count) {
      let value = digits[4 + 2 * index] * 83 + digits[5 + 2 * index]
      func part(_ digit: Int) -> Double {
        let value = Double(digit - 9) / 9
        return (value < 0 ? -value * value : value * value) * largest
      }
      factors.append((red: part(value / 361), green: part(value / 19 % 19), blue: part(value % 19)))
    }
    return factors
  }

  /// The cosine of every sixteenth of pi, twice around, by the rule for multiples of an angle.
  private static func cosines() -> [Double] {
    var cosines = [1.0, 0.980_785_280_403_230_4]
    for index in 2..<32 { cosines.append(2 * cosines[1] * cosines[index - 1] - cosines[index - 2]) }
    return cosines
  }

  // The curves of sRGB without powers, right to half a step of 255. Source: C. Schuler, "sRGB approximations for HLSL".

  private static func linear(_ value: Int) -> Double {
    let value = Double(value) / 255
    return value * (value * (value * 0.305306011 + 0.682171111) + 0.012522878)
  }

  private static func byte(_ linear: Double) -> UInt8 {
    guard linear > 0 else { return 0 }
    let second = root(linear)
    let fourth = root(second)
    let value = 0.662002687 * second + 0.684122060 * fourth - 0.323583601 * root(fourth) - 0.0225411470 * linear
    return UInt8(max(0, min(255, value * 255 + 0.5)))
  }

  /// By Newton (`squareRoot` would want the C mathematics library).
  private static func root(_ value: Double) -> Double {
    var root = (value + 1) / 2
    for _ in 0..<10 { root = (root + value / root) / 2 }
    return root
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      var group = 0
      for offset in 0..<3 { group = group << 8 | (start + offset < bytes.count ? Int(bytes[start + offset]) : 0) }
      for place in 0..<4 {
        out.append(start + place > bytes.count ? 0x3D : letters[group >> (18 - 6 * place) & 63])
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
