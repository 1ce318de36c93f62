/// Elements of EBML: an identifier, a size, and what is inside. RFC 8794 §4 to §7.
enum EBML {
  /// Of an element that goes on to the end of the file. RFC 8794 §6.2.
  static let unknownSize: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

  /// With its marker bits, as RFC 9559 lists them.
  static func identifier(_ id: UInt32) -> [UInt8] {
    let bytes = bigEndian(UInt64(id))
    return Array(bytes.drop { $0 == 0 })
  }

  /// In as few bytes as it needs. RFC 8794 §4.
  static func size(_ count: Int) -> [UInt8] {
    var width = 1
    while width < 8, UInt64(count) >= (UInt64(1) << UInt64(7 * width)) - 1 { width += 1 }
    return size(count, width: width)
  }

  static func size(_ count: Int, width: Int) -> [UInt8] {
    Array(bigEndian(UInt64(count) | 1 << UInt64(7 * width)).suffix(width))
  }

  static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] { identifier(id) + size(content.count) + content }

  static func element(_ id: UInt32, number: UInt64) -> [UInt8] {
    let bytes = bigEndian(number).drop { $0 == 0 }
    return element(id, bytes.isEmpty ? [0] : Array(bytes))
  }

  static func element(_ id: UInt32, float: Double) -> [UInt8] { element(id, bigEndian(float.bitPattern)) }

  static func element(_ id: UInt32, text: String) -> [UInt8] { element(id, Array(text.utf8)) }

  /// Room of `count` bytes, 2 to 128, for what is written later. RFC 8794 §11.3.2.
  static func void(_ count: Int) -> [UInt8] { [0xEC] + size(count - 2, width: 1) + [UInt8](repeating: 0, count: count - 2) }

  static func bigEndian(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
}

/// The elements of Matroska that are written. RFC 9559 §5.1.
enum Matroska {
  static let header: UInt32 = 0x1A45_DFA3
  static let segment: UInt32 = 0x1853_8067
  static let seekHead: UInt32 = 0x114D_9B74
  static let info: UInt32 = 0x1549_A966
  static let duration: UInt32 = 0x4489
  static let tracks: UInt32 = 0x1654_AE6B
  static let cluster: UInt32 = 0x1F43_B675
  static let clusterTime: UInt32 = 0xE7
  static let simpleBlock: UInt32 = 0xA3
  static let cues: UInt32 = 0x1C53_BB6B
}
