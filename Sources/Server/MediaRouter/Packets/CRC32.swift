/// The checksum of ITU V.42, as STUN's FINGERPRINT has it. RFC 8489 §14.7.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  static func checksum(_ bytes: RawSpan) -> UInt32 {
    var value = ~UInt32(0)
    for offset in bytes.byteOffsets {
      value = table[Int(UInt8(truncatingIfNeeded: value) ^ bytes.uint8(at: offset))] ^ value >> 8
    }
    return ~value
  }
}
