import MediaRouter

/// The size of pictures, as a sequence parameter set tells it. ITU-T H.264 §7.3.2.1.1.
enum H264Parameters {
  /// Profiles that say more of their samples.
  private static let highProfiles: Set<UInt32> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]
  private static let sideLimit = 16_384

  static func size(_ unit: [UInt8]) -> PictureSize? {
    let content = withoutEmulationPrevention(unit.dropFirst())
    return content.withUnsafeBytes { Parser($0.bytes).size($0.bytes) }
  }

  /// §7.4.1: a byte 3 behind two zero bytes is not part of the content.
  private static func withoutEmulationPrevention(_ unit: ArraySlice<UInt8>) -> [UInt8] {
    var content: [UInt8] = []
    var zeros = 0
    for byte in unit {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      content.append(byte)
    }
    return content
  }

  private struct Parser {
    private var bits: BitReader

    init(_ bytes: RawSpan) { bits = BitReader(bytes) }

    consuming func size(_ bytes: RawSpan) -> PictureSize? {
      var parser = self
      return parser.read(bytes)
    }

    private mutating func read(_ bytes: RawSpan) -> PictureSize? {
      guard let profile = bits.read(8, of: bytes), bits.read(16, of: bytes) != nil, number(bytes) != nil else { return nil }
      var chroma: UInt32 = 1
      if highProfiles.contains(profile) {
        guard let format = samples(bytes) else { return nil }
        chroma = format
      }
      // log2_max_frame_num, then the order of pictures, then reference frames and whether numbers may have gaps.
      guard number(bytes) != nil, pictureOrder(bytes), number(bytes) != nil, bits.read(1, of: bytes) != nil,
        let columns = number(bytes), let rows = number(bytes), let isProgressive = bits.read(1, of: bytes),
        columns < UInt32(sideLimit / 16), rows < UInt32(sideLimit / 16)
      else { return nil }
      if isProgressive == 0 { _ = bits.read(1, of: bytes) }
      guard bits.read(1, of: bytes) != nil, let isCropped = bits.read(1, of: bytes) else { return nil }
      let fields = isProgressive == 1 ? 1 : 2
      var (width, height) = (16 * (Int(columns) + 1), 16 * (Int(rows) + 1) * fields)
      if isCropped == 1 {
        guard let left = number(bytes), let right = number(bytes), let top = number(bytes), let bottom = number(bytes) else {
          return nil
        }
        width -= (chroma == 1 || chroma == 2 ? 2 : 1) * (Int(left) + Int(right))
        height -= (chroma == 1 ? 2 : 1) * fields * (Int(top) + Int(bottom))
      }
      return PictureSize(width, height)
    }

    /// chroma_format_idc; passes over bit depths and scaling lists.
    private mutating func samples(_ bytes: RawSpan) -> UInt32? {
      guard let format = number(bytes) else { return nil }
      if format == 3 { _ = bits.read(1, of: bytes) }
      guard number(bytes) != nil, number(bytes) != nil, bits.read(1, of: bytes) != nil,
        let hasLists = bits.read(1, of: bytes)
      else { return nil }
      guard hasLists == 1 else { return format }
      for list in 0..<(format == 3 ? 12 : 8) {
        guard let isThere = bits.read(1, of: bytes) else { return nil }
        if isThere == 1, !passScalingList(list < 6 ? 16 : 64, bytes) { return nil }
      }
      return format
    }

    /// §7.3.2.1.1.1.
    private mutating func passScalingList(_ count: Int, _ bytes: RawSpan) -> Bool {
      var (last, next) = (8, 8)
      for _ in 0..<count {
        if next != 0 {
          guard let delta = signedNumber(bytes) else { return false }
          next = (last + delta) & 0xFF
        }
        last = next == 0 ? last : next
      }
      return true
    }

    private mutating func pictureOrder(_ bytes: RawSpan) -> Bool {
      switch number(bytes) {
      case 0: return number(bytes) != nil
      case 1:
        guard bits.read(1, of: bytes) != nil, number(bytes) != nil, number(bytes) != nil, let count = number(bytes), count < 256
        else { return false }
        return (0..<count).allSatisfy { _ in number(bytes) != nil }
      case 2: return true
      default: return false
      }
    }

    /// ue(v), §9.1.
    private mutating func number(_ bytes: RawSpan) -> UInt32? {
      var zeros = 0
      while true {
        guard let bit = bits.read(1, of: bytes) else { return nil }
        if bit == 1 { break }
        zeros += 1
        guard zeros < 32 else { return nil }
      }
      return bits.read(zeros, of: bytes).map { $0 + (1 << UInt32(zeros) - 1) }
    }

    /// se(v), §9.1.1.
    private mutating func signedNumber(_ bytes: RawSpan) -> Int? {
      number(bytes).map { $0 % 2 == 1 ? (Int($0) + 1) / 2 : -Int($0) / 2 }
    }
  }
}
