/// The codewords of a code: mode, count, bytes and padding in blocks, each with its error correction, interleaved.
/// ISO/IEC 18004:2015, §7.4 to §7.6.
enum QRCodewords {
  static func make(of bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
    let data = data(of: bytes, version)
    // The first blocks have one codeword less, if they are not all equal.
    let shorter = version.blocks - data.count % version.blocks
    let length = data.count / version.blocks
    let generator = generator(degree: version.correction)
    var blocks: [ArraySlice<UInt8>] = []
    var corrections: [[UInt8]] = []
    var start = 0
    for block in 0..<version.blocks {
      let end = start + length + (block < shorter ? 0 : 1)
      blocks.append(data[start..<end])
      corrections.append(remainder(of: data[start..<end], by: generator))
      start = end
    }
    var result: [UInt8] = []
    for index in 0...length {
      for block in blocks where index < block.count { result.append(block[block.startIndex + index]) }
    }
    for index in 0..<version.correction {
      for correction in corrections { result.append(correction[index]) }
    }
    return result
  }

  private static func data(of bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
    var bits = BitWriter()
    bits.append(0b0100, count: 4)
    bits.append(bytes.count, count: version.countBits)
    for byte in bytes { bits.append(Int(byte), count: 8) }
    // The end of the data, as far as there is room for it.
    bits.append(0, count: min(4, version.dataCodewords * 8 - bits.count))
    var data = bits.bytes
    var padding: UInt8 = 0xEC
    while data.count < version.dataCodewords {
      data.append(padding)
      padding ^= 0xEC ^ 0x11
    }
    return data
  }

  private struct BitWriter {
    var bytes: [UInt8] = []
    var count = 0

    mutating func append(_ value: Int, count bits: Int) {
      for bit in stride(from: bits - 1, through: 0, by: -1) {
        if count % 8 == 0 { bytes.append(0) }
        if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 0x80 >> UInt8(count % 8) }
        count += 1
      }
    }
  }

  // MARK: Reed-Solomon, over the field of 256 elements with x⁸ + x⁴ + x³ + x² + 1

  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var result = 0
    for bit in stride(from: 7, through: 0, by: -1) {
      result = result << 1 ^ (result >> 7) * 0x11D
      if right >> UInt8(bit) & 1 == 1 { result ^= Int(left) }
    }
    return UInt8(truncatingIfNeeded: result)
  }

  /// (x - 2⁰)(x - 2¹)… without its first coefficient, which is 1.
  private static func generator(degree: Int) -> [UInt8] {
    var generator = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for index in generator.indices {
        generator[index] = product(generator[index], root)
        if index + 1 < degree { generator[index] ^= generator[index + 1] }
      }
      root = product(root, 2)
    }
    return generator
  }

  private static func remainder(of data: ArraySlice<UInt8>, by generator: [UInt8]) -> [UInt8] {
    var remainder = [UInt8](repeating: 0, count: generator.count)
    for byte in data {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in generator.indices { remainder[index] ^= product(generator[index], factor) }
    }
    return remainder
  }
}
