/// Numbers in network byte order. The spans check every access; a parser asks for the length first, so that no input traps.
extension RawSpan {
  @inline(__always) func uint8(at offset: Int) -> UInt8 { unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self) }

  @inline(__always) func uint16(at offset: Int) -> UInt16 {
    UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always) func uint24(at offset: Int) -> UInt32 {
    UInt32(uint16(at: offset)) << 8 | UInt32(uint8(at: offset + 2))
  }

  @inline(__always) func uint32(at offset: Int) -> UInt32 {
    UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always) func uint64(at offset: Int) -> UInt64 {
    UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// A copy of a part that lies within.
  func bytes(_ range: Range<Int>) -> [UInt8] { extracting(range).withUnsafeBytes { Array($0) } }
}

extension MutableRawSpan {
  @inline(__always) mutating func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    storeBytes(of: number.bigEndian, toByteOffset: offset, as: type(of: number).self)
  }
}

extension [UInt8] {
  /// Appends a number in network byte order.
  mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
    var bigEndian = number.bigEndian
    Swift.withUnsafeBytes(of: &bigEndian) { append(contentsOf: $0) }
  }

  mutating func store(_ number: UInt16, at offset: Int) {
    self[offset] = UInt8(truncatingIfNeeded: number >> 8)
    self[offset + 1] = UInt8(truncatingIfNeeded: number)
  }
}

/// What the first byte of a datagram says it is. RFC 7983 §7, RFC 5761 §4.
enum DatagramKind: Equatable {
  case stun
  case dtls
  case rtp
  case rtcp

  /// nil for an empty datagram and for what we do not speak (ZRTP, TURN channels).
  init?(_ datagram: RawSpan) {
    guard datagram.byteCount >= 2 else { return nil }
    switch datagram.uint8(at: 0) {
    case 0...3: self = .stun
    case 20...63: self = .dtls
    case 128...191: self = (192...223).contains(datagram.uint8(at: 1)) ? .rtcp : .rtp
    default: return nil
    }
  }
}
