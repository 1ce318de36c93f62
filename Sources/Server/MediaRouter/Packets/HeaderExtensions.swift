/// The elements of an RTP header extension, in the one-byte or the two-byte form. RFC 8285 §4.
struct HeaderExtensions {
  static let oneByteProfile: UInt16 = 0xBEDE

  private let isOneByte: Bool
  private var offset: Int
  private let end: Int

  /// nil where the packet has none of a known form.
  init?(_ header: RTPHeader) {
    guard !header.extensions.isEmpty else { return nil }
    switch header.extensionProfile {
    case Self.oneByteProfile: isOneByte = true
    // The low four bits are for applications.
    case 0x1000...0x100F: isOneByte = false
    default: return nil
    }
    offset = header.extensions.lowerBound
    end = header.extensions.upperBound
  }

  /// The next element: its ID (1...14, or 1...255 in the two-byte form) and where its value lies. nil at the end, and where an
  /// element reaches beyond the extension.
  mutating func next(in packet: RawSpan) -> (id: UInt8, value: Range<Int>)? {
    while offset < end {
      let first = packet.uint8(at: offset)
      if first == 0 {
        offset += 1
        continue
      }
      if isOneByte {
        // 15 ends the processing, whatever follows, and so does an ID 0 that is no padding.
        guard (1...14).contains(first >> 4) else { break }
        return take(first >> 4, from: offset + 1, count: Int(first & 0x0F) + 1)
      }
      guard offset + 2 <= end else { break }
      return take(first, from: offset + 2, count: Int(packet.uint8(at: offset + 1)))
    }
    offset = end
    return nil
  }

  private mutating func take(_ id: UInt8, from start: Int, count: Int) -> (id: UInt8, value: Range<Int>)? {
    guard start + count <= end else {
      offset = end
      return nil
    }
    offset = start + count
    return (id, start..<offset)
  }

  /// Where the value of the first element with this ID lies.
  static func value(_ id: UInt8, of header: RTPHeader, in packet: RawSpan) -> Range<Int>? {
    guard var elements = HeaderExtensions(header) else { return nil }
    while let element = elements.next(in: packet) {
      if element.id == id { return element.value }
    }
    return nil
  }
}

/// A header extension that the router reads or writes, by the URI that SDP gives it.
package enum HeaderExtension: String, Sendable, CaseIterable {
  /// RFC 8843 §15.1: which media section a packet belongs to.
  case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  /// RFC 8852 §3.1: which layer of a simulcast an SSRC carries, …
  case streamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  /// … and which one a retransmission repairs.
  case repairedStreamID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  /// RFC 6464: how loud the sender is.
  case audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  /// When the packet left, in 2^-18 seconds, 24 bits.
  case sendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  /// The number of a packet among all of its transport. draft-holmer-rmcat-transport-wide-cc-extensions-01 §2.
  case transportSequence = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  /// 3GPP TS 26.114 §7.4.5: how the picture must be turned.
  case orientation = "urn:3gpp:video-orientation"
  /// The AV1 RTP payload specification, appendix A: layers and references without a look into the payload.
  case dependencyDescriptor =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
}
