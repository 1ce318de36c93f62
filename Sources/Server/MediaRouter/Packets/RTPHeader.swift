/// Where the parts of an RTP packet lie. RFC 3550 §5.1.
struct RTPHeader: Equatable {
  static let fixedBytes = 12

  let marker: Bool
  let payloadType: UInt8
  let sequenceNumber: UInt16
  let timestamp: UInt32
  let ssrc: UInt32
  /// `defined by profile` of the header extension: 0xBEDE or 0x100x; 0 without an extension.
  let extensionProfile: UInt16
  /// The elements of the header extension, without its own header of four bytes; empty without an extension.
  let extensions: Range<Int>
  /// Without padding; empty for a packet of padding only.
  let payload: Range<Int>

  /// nil for anything that is not a complete RTP packet. Of an encrypted packet the padding is not known yet: pass `isSealed`.
  init?(_ packet: RawSpan, isSealed: Bool = false) {
    let count = packet.byteCount
    guard count >= Self.fixedBytes else { return nil }
    let first = packet.uint8(at: 0)
    guard first >> 6 == 2 else { return nil }
    let second = packet.uint8(at: 1)
    marker = second & 0x80 != 0
    payloadType = second & 0x7F
    sequenceNumber = packet.uint16(at: 2)
    timestamp = packet.uint32(at: 4)
    ssrc = packet.uint32(at: 8)

    var offset = Self.fixedBytes + 4 * Int(first & 0x0F)
    if first & 0x10 != 0 {
      guard offset + 4 <= count else { return nil }
      extensionProfile = packet.uint16(at: offset)
      let end = offset + 4 + 4 * Int(packet.uint16(at: offset + 2))
      guard end <= count else { return nil }
      extensions = (offset + 4)..<end
      offset = end
    } else {
      extensionProfile = 0
      extensions = offset..<offset
    }
    guard offset <= count else { return nil }
    var end = count
    if first & 0x20 != 0 && !isSealed {
      let padding = Int(packet.uint8(at: count - 1))
      guard padding > 0, offset + padding <= count else { return nil }
      end -= padding
    }
    payload = offset..<end
  }
}
