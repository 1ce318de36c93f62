/// One packet of a compound RTCP datagram, as far as the router makes use of it. RFC 3550 §6, RFC 4585 §6.
enum RTCPPacket: Equatable {
  case senderReport(SenderReport, reports: [ReceptionReport])
  case receiverReport(sender: UInt32, reports: [ReceptionReport])
  case goodbye(ssrcs: [UInt32])
  /// Sequence numbers that did not arrive. RFC 4585 §6.2.1.
  case nack(sender: UInt32, media: UInt32, lost: [NackPair])
  /// RFC 4585 §6.3.1.
  case pictureLoss(sender: UInt32, media: UInt32)
  /// RFC 5104 §4.3.1: per SSRC the number of the request.
  case fullIntra(sender: UInt32, requests: [FullIntraRequest])
  /// draft-alvestrand-rmcat-remb-03 §2.2: what the receiver can take, in bits a second.
  case receiverEstimate(sender: UInt32, bitsPerSecond: UInt64, ssrcs: [UInt32])
  case transportFeedback(TransportFeedback)
}

/// RFC 3550 §6.4.1.
struct SenderReport: Equatable {
  var ssrc: UInt32
  /// Seconds since 1900 in the high 32 bits, fractions below.
  var ntpTime: UInt64
  var rtpTime: UInt32
  var packetCount: UInt32
  var octetCount: UInt32
}

/// A report block. RFC 3550 §6.4.1.
struct ReceptionReport: Equatable {
  var ssrc: UInt32
  /// Of what came since the last report, in 1/256.
  var fractionLost: UInt8
  /// -2^23...2^23-1.
  var cumulativeLost: Int32
  var highestSequence: UInt32
  /// In the clock of the payload.
  var jitter: UInt32
  /// The middle 32 bits of the NTP time of the last sender report, 0 for none.
  var lastReport: UInt32
  /// Since then, in 1/65536 s.
  var delaySinceLastReport: UInt32

  /// Of the packets since an earlier report on the same SSRC. nil where none can have been between them. RFC 3550 Appendix A.3.
  func loss(since before: ReceptionReport) -> PacketLoss? {
    let expected = highestSequence &- before.highestSequence
    guard 1...0xFFFF ~= expected else { return nil }
    return PacketLoss(lost: min(Int(cumulativeLost - before.cumulativeLost), Int(expected)), expected: Int(expected))
  }
}

/// A lost sequence number and a bit for each of the 16 after it.
struct NackPair: Equatable {
  var first: UInt16
  var following: UInt16
}

struct FullIntraRequest: Equatable {
  var ssrc: UInt32
  var number: UInt8
}

/// Reads a compound datagram packet by packet; kinds nobody needs are passed over.
struct RTCPReader {
  private var offset = 0
  /// Of how many packets transport feedback may still tell.
  private(set) var feedbackPackets: Int

  /// - Parameter feedbackPackets: of how many packets all transport feedback of a datagram may tell; what tells of more is passed over. A few
  ///   bytes claim thousands.
  init(feedbackPackets: Int = TransportFeedback.packetsLimit) { self.feedbackPackets = feedbackPackets }

  /// The next packet of a known kind; nil at the end and from the first malformed packet on.
  mutating func next(in datagram: RawSpan) -> RTCPPacket? {
    while offset + 4 <= datagram.byteCount {
      let first = datagram.uint8(at: offset)
      let end = offset + 4 + 4 * Int(datagram.uint16(at: offset + 2))
      guard first >> 6 == 2, end <= datagram.byteCount else { break }
      var bodyEnd = end
      if first & 0x20 != 0 {
        // Padding is for the last packet. RFC 3550 §6.4.1.
        let padding = Int(datagram.uint8(at: end - 1))
        guard end == datagram.byteCount, padding > 0, end - padding >= offset + 4 else { break }
        bodyEnd -= padding
      }
      let body = datagram.extracting((offset + 4)..<bodyEnd)
      let kind = datagram.uint8(at: offset + 1)
      offset = end
      if let packet = packet(kind, count: Int(first & 0x1F), body) { return packet }
    }
    offset = datagram.byteCount
    return nil
  }

  private mutating func packet(_ kind: UInt8, count: Int, _ body: RawSpan) -> RTCPPacket? {
    switch (kind, count) {
    case (200, _): Self.senderReport(count, body)
    case (201, _): Self.receiverReport(count, body)
    case (203, _): Self.goodbye(count, body)
    case (205, 1): Self.nack(body)
    case (205, 15): feedback(body)
    case (206, 1):
      body.byteCount >= 8 ? .pictureLoss(sender: body.uint32(at: 0), media: body.uint32(at: 4)) : nil
    case (206, 4): Self.fullIntra(body)
    case (206, 15): Self.receiverEstimate(body)
    default: nil
    }
  }

  private mutating func feedback(_ body: RawSpan) -> RTCPPacket? {
    guard let claimed = TransportFeedback.claimedPackets(body), claimed <= feedbackPackets else { return nil }
    feedbackPackets -= claimed
    return TransportFeedback(body).map { .transportFeedback($0) }
  }

  private static func senderReport(_ count: Int, _ body: RawSpan) -> RTCPPacket? {
    guard body.byteCount >= 24 + 24 * count else { return nil }
    let report = SenderReport(
      ssrc: body.uint32(at: 0), ntpTime: body.uint64(at: 4), rtpTime: body.uint32(at: 12),
      packetCount: body.uint32(at: 16), octetCount: body.uint32(at: 20))
    return .senderReport(report, reports: reports(count, body.extracting(24...)))
  }

  private static func receiverReport(_ count: Int, _ body: RawSpan) -> RTCPPacket? {
    guard body.byteCount >= 4 + 24 * count else { return nil }
    return .receiverReport(sender: body.uint32(at: 0), reports: reports(count, body.extracting(4...)))
  }

  private static func reports(_ count: Int, _ body: RawSpan) -> [ReceptionReport] {
    var reports: [ReceptionReport] = []
    for start in stride(from: 0, to: 24 * count, by: 24) {
      reports.append(
        ReceptionReport(
          ssrc: body.uint32(at: start), fractionLost: body.uint8(at: start + 4),
          cumulativeLost: Int32(bitPattern: body.uint24(at: start + 5) << 8) >> 8,
          highestSequence: body.uint32(at: start + 8), jitter: body.uint32(at: start + 12),
          lastReport: body.uint32(at: start + 16), delaySinceLastReport: body.uint32(at: start + 20)))
    }
    return reports
  }

  private static func goodbye(_ count: Int, _ body: RawSpan) -> RTCPPacket? {
    guard body.byteCount >= 4 * count else { return nil }
    return .goodbye(ssrcs: (0..<count).map { body.uint32(at: 4 * $0) })
  }

  private static func nack(_ body: RawSpan) -> RTCPPacket? {
    guard body.byteCount >= 12 else { return nil }
    let lost = stride(from: 8, to: body.byteCount - 3, by: 4).map {
      NackPair(first: body.uint16(at: $0), following: body.uint16(at: $0 + 2))
    }
    return .nack(sender: body.uint32(at: 0), media: body.uint32(at: 4), lost: lost)
  }

  private static func fullIntra(_ body: RawSpan) -> RTCPPacket? {
    guard body.byteCount >= 16 else { return nil }
    let requests = stride(from: 8, to: body.byteCount - 7, by: 8).map {
      FullIntraRequest(ssrc: body.uint32(at: $0), number: body.uint8(at: $0 + 4))
    }
    return .fullIntra(sender: body.uint32(at: 0), requests: requests)
  }

  private static func receiverEstimate(_ body: RawSpan) -> RTCPPacket? {
    // "REMB"; other applications use the same format.
    guard body.byteCount >= 16, body.uint32(at: 8) == 0x5245_4D42 else { return nil }
    let count = Int(body.uint8(at: 12))
    guard body.byteCount >= 16 + 4 * count else { return nil }
    let exponentAndMantissa = body.uint24(at: 13)
    let mantissa = UInt64(exponentAndMantissa & 0x3FFFF)
    let exponent = exponentAndMantissa >> 18
    let rate = exponent > 45 ? UInt64.max >> 1 : mantissa << exponent
    return .receiverEstimate(
      sender: body.uint32(at: 0), bitsPerSecond: rate, ssrcs: (0..<count).map { body.uint32(at: 16 + 4 * $0) })
  }
}
