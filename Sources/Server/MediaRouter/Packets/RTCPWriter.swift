/// Writes a compound RTCP datagram. RFC 3550 §6.1: it begins with a report.
struct RTCPWriter {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(256) }

  mutating func senderReport(_ report: SenderReport, reports: [ReceptionReport] = []) {
    packet(200, count: reports.count) { bytes in
      bytes.append(number: report.ssrc)
      bytes.append(number: report.ntpTime)
      bytes.append(number: report.rtpTime)
      bytes.append(number: report.packetCount)
      bytes.append(number: report.octetCount)
      for report in reports { Self.append(report, to: &bytes) }
    }
  }

  /// - Parameter reports: at most 31.
  mutating func receiverReport(sender: UInt32, reports: [ReceptionReport] = []) {
    packet(201, count: reports.count) { bytes in
      bytes.append(number: sender)
      for report in reports { Self.append(report, to: &bytes) }
    }
  }

  /// The canonical name of an SSRC, which a compound datagram must hold. RFC 3550 §6.5.1.
  mutating func canonicalName(_ name: [UInt8], of ssrc: UInt32) {
    precondition(name.count <= 255)
    packet(202, count: 1) { bytes in
      bytes.append(number: ssrc)
      bytes += [1, UInt8(name.count)] + name + [0]
      while bytes.count % 4 != 0 { bytes.append(0) }
    }
  }

  mutating func goodbye(_ ssrcs: [UInt32]) {
    packet(203, count: ssrcs.count) { bytes in for ssrc in ssrcs { bytes.append(number: ssrc) } }
  }

  mutating func nack(sender: UInt32, media: UInt32, lost: [NackPair]) {
    packet(205, count: 1) { bytes in
      bytes.append(number: sender)
      bytes.append(number: media)
      for pair in lost {
        bytes.append(number: pair.first)
        bytes.append(number: pair.following)
      }
    }
  }

  mutating func pictureLoss(sender: UInt32, media: UInt32) {
    packet(206, count: 1) { bytes in
      bytes.append(number: sender)
      bytes.append(number: media)
    }
  }

  mutating func fullIntra(sender: UInt32, requests: [FullIntraRequest]) {
    packet(206, count: 4) { bytes in
      bytes.append(number: sender)
      bytes.append(number: UInt32(0))
      for request in requests {
        bytes.append(number: request.ssrc)
        bytes += [request.number, 0, 0, 0]
      }
    }
  }

  /// - Parameter ssrcs: at most 255.
  mutating func receiverEstimate(sender: UInt32, bitsPerSecond: UInt64, ssrcs: [UInt32]) {
    var exponent: UInt32 = 0
    while bitsPerSecond >> exponent > 0x3FFFF { exponent += 1 }
    let mantissa = UInt32(truncatingIfNeeded: bitsPerSecond >> exponent)
    packet(206, count: 15) { bytes in
      bytes.append(number: sender)
      bytes.append(number: UInt32(0))
      bytes += Array("REMB".utf8)
      bytes.append(number: UInt32(ssrcs.count) << 24 | exponent << 18 | mantissa)
      for ssrc in ssrcs { bytes.append(number: ssrc) }
    }
  }

  mutating func transportFeedback(_ feedback: TransportFeedback) {
    packet(205, count: 15) { feedback.append(to: &$0) }
  }

  private mutating func packet(_ kind: UInt8, count: Int, _ body: (inout [UInt8]) -> Void) {
    precondition(count <= 31)
    let start = bytes.count
    bytes += [0x80 | UInt8(count), kind, 0, 0]
    body(&bytes)
    precondition(bytes.count % 4 == 0)
    bytes.store(UInt16((bytes.count - start) / 4 - 1), at: start + 2)
  }

  private static func append(_ report: ReceptionReport, to bytes: inout [UInt8]) {
    bytes.append(number: report.ssrc)
    bytes.append(number: UInt32(report.fractionLost) << 24 | UInt32(bitPattern: report.cumulativeLost) & 0xFF_FFFF)
    bytes.append(number: report.highestSequence)
    bytes.append(number: report.jitter)
    bytes.append(number: report.lastReport)
    bytes.append(number: report.delaySinceLastReport)
  }
}
