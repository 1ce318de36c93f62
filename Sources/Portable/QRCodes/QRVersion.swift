/// A size of QR codes, at error correction level M. ISO/IEC 18004:2015, tables 7, 9 and E.1.
struct QRVersion {
  let number: Int
  let blocks: Int
  /// Codewords of error correction in each block.
  let correction: Int
  /// Between the centres of two alignment patterns, counted from the last one; 0 if there are none.
  let alignmentStep: Int
  /// Codewords of data in all blocks.
  let dataCodewords: Int

  /// Modules of a side.
  var size: Int { 17 + 4 * number }

  /// Bits that say how many bytes follow.
  var countBits: Int { number < 10 ? 8 : 16 }

  /// Bytes that fit behind the mode and their count.
  var byteCapacity: Int { (dataCodewords * 8 - 4 - countBits) / 8 }

  /// Where the centres of alignment patterns lie, in both directions.
  var alignmentCentres: [Int] {
    guard alignmentStep > 0 else { return [] }
    var centres = [6]
    for centre in stride(from: size - 7, to: 6, by: -alignmentStep) { centres.append(centre) }
    return centres
  }

  private init(_ number: Int, _ blocks: Int, _ correction: Int, _ alignmentStep: Int, _ dataCodewords: Int) {
    self.number = number
    self.blocks = blocks
    self.correction = correction
    self.alignmentStep = alignmentStep
    self.dataCodewords = dataCodewords
  }

  static let all: [QRVersion] = [
    QRVersion(1, 1, 10, 0, 16), QRVersion(2, 1, 16, 12, 28), QRVersion(3, 1, 26, 16, 44), QRVersion(4, 2, 18, 20, 64),
    QRVersion(5, 2, 24, 24, 86), QRVersion(6, 4, 16, 28, 108), QRVersion(7, 4, 18, 16, 124), QRVersion(8, 4, 22, 18, 154),
    QRVersion(9, 5, 22, 20, 182), QRVersion(10, 5, 26, 22, 216), QRVersion(11, 5, 30, 24, 254),
    QRVersion(12, 8, 22, 26, 290), QRVersion(13, 9, 22, 28, 334), QRVersion(14, 9, 24, 20, 365),
    QRVersion(15, 10, 24, 22, 415), QRVersion(16, 10, 28, 24, 453), QRVersion(17, 11, 28, 24, 507),
    QRVersion(18, 13, 26, 26, 563), QRVersion(19, 14, 26, 28, 627), QRVersion(20, 16, 26, 28, 669)
  ]
}
