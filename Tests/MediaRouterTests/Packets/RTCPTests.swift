@testable import MediaRouter
import Testing

@Suite struct RTCPTests {
  private static func read(_ bytes: [UInt8]) -> [RTCPPacket] {
    var reader = RTCPReader()
    var packets: [RTCPPacket] = []
    while let packet = reader.next(in: bytes.span.bytes) { packets.append(packet) }
    return packets
  }

  private static let report = ReceptionReport(
    ssrc: 9, fractionLost: 128, cumulativeLost: -3, highestSequence: 0x1_0002, jitter: 40, lastReport: 5,
    delaySinceLastReport: 6)
  private static let senderReport = SenderReport(
    ssrc: 1, ntpTime: 0x0123_4567_89AB_CDEF, rtpTime: 90_000, packetCount: 3, octetCount: 4)
  private static let feedback = TransportFeedback(
    sender: 1, media: 2, base: 65_534, number: 7,
    arrivals: [1000, 1001, nil, nil, 1300, 1299, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 30_000, 30_001])

  private static let packets: [RTCPPacket] = [
    .senderReport(senderReport, reports: [report]), .receiverReport(sender: 2, reports: [report, report]),
    .goodbye(ssrcs: [7, 8]), .nack(sender: 1, media: 2, lost: [NackPair(first: 65_535, following: 0x8001)]),
    .pictureLoss(sender: 1, media: 2), .fullIntra(sender: 1, requests: [FullIntraRequest(ssrc: 5, number: 200)]),
    .receiverEstimate(sender: 1, bitsPerSecond: 1_500_160, ssrcs: [3, 4]), .transportFeedback(feedback)
  ]

  private static let compound: [UInt8] = {
    var writer = RTCPWriter()
    writer.senderReport(senderReport, reports: [report])
    writer.receiverReport(sender: 2, reports: [report, report])
    writer.canonicalName(Array("name".utf8), of: 1)
    writer.goodbye([7, 8])
    writer.nack(sender: 1, media: 2, lost: [NackPair(first: 65_535, following: 0x8001)])
    writer.pictureLoss(sender: 1, media: 2)
    writer.fullIntra(sender: 1, requests: [FullIntraRequest(ssrc: 5, number: 200)])
    writer.receiverEstimate(sender: 1, bitsPerSecond: 1_500_160, ssrcs: [3, 4])
    writer.transportFeedback(feedback)
    return writer.bytes
  }()

  // Proves M5
  @Test func aCompoundDatagramIsReadAsItWasWritten() { #expect(Self.read(Self.compound) == Self.packets) }

  /// The bytes by hand, against the layout of RFC 3550 §6.4.2 and RFC 4585 §6.2.1.
  // Proves M5, Q11
  @Test func theLayoutIsThatOfTheStandards() {
    #expect(
      Self.read(hex("81c90007 00000002 00000009 80fffffd 00010002 00000028 00000005 00000006"))
        == [.receiverReport(sender: 2, reports: [Self.report])])
    #expect(
      Self.read(hex("81cd0003 00000001 00000002 ffff8001"))
        == [.nack(sender: 1, media: 2, lost: [NackPair(first: 65_535, following: 0x8001)])])
    #expect(
      Self.read(hex("8fce0005 00000001 00000000 52454d42 010edc80 00000003"))
        == [.receiverEstimate(sender: 1, bitsPerSecond: 187_520 << 3, ssrcs: [3])])
  }

  @Test func unknownKindsAndPaddingArePassedOver() {
    let datagram = hex("80cc0001 00000000 80cd0001 00000000 a1cb0002 00000005 00000004")
    #expect(Self.read(datagram) == [.goodbye(ssrcs: [5])])
  }

  @Test(arguments: ["81c90001 00000002", "82cb0001 00000005", "81c9", "81c90007", "a1cb0001 00000009"])
  func malformedPacketsEndTheReading(_ text: String) { #expect(Self.read(hex(text)).isEmpty) }

  // Proves M10
  @Test func aTransportFeedbackOfAllChunkKinds() throws {
    // Run of three small, vector of one bit each, vector of two bits each; reference -1, the delta of -1 tick.
    let body = hex("00000001 00000002 fffe 0018 ffffff 07 2003 a0 00 d8 00 01 02 03 04 00 ffff 00")
    let feedback = try #require(TransportFeedback(body))
    #expect(feedback.base == 0xFFFE)
    #expect(feedback.arrivals.count == 24)
    #expect(Array(feedback.arrivals[0..<4]) == [-255, -253, -250, -246])
    #expect(Array(feedback.arrivals[4..<17]) == [Int64?](repeating: nil, count: 13))
    #expect(Array(feedback.arrivals[17..<19]) == [-246, -247])
  }

  @Test func arrivalsTooFarApartAreToldAsLost() {
    var feedback = TransportFeedback(sender: 1, media: 2, base: 0, number: 0, arrivals: [0, 40_000, 100])
    var bytes: [UInt8] = []
    feedback.append(to: &bytes)
    feedback.arrivals[1] = nil
    #expect(TransportFeedback(bytes) == feedback)
  }

  @Test func randomFeedbackSurvivesTheWire() {
    var random = SeededGenerator(seed: 3)
    for round in 0..<200 {
      var time = Int64.random(in: -100_000...1_000_000, using: &random)
      let arrivals: [Int64?] = (0..<Int.random(in: 1...400, using: &random)).map { _ in
        time += Int64.random(in: -20...400, using: &random)
        return Int.random(in: 0..<10, using: &random) < round % 10 ? nil : time
      }
      let feedback = TransportFeedback(sender: 1, media: 2, base: 5, number: 6, arrivals: arrivals)
      var bytes: [UInt8] = []
      feedback.append(to: &bytes)
      #expect(TransportFeedback(bytes) == feedback)
    }
  }

  /// 24 bytes that claim 4,000 packets, none of which arrived.
  private static let claim: [UInt8] = hex("8fcd0005 00000001 00000002 0000 0fa0 000000 00 0fa0 0000")

  @Test(arguments: [(4_000, 1), (7_999, 1), (8_000, 2), (0, 0)])
  func feedbackOfADatagramTellsOfSoManyPackets(_ limit: Int, _ count: Int) {
    let datagram = Self.claim + Self.claim + Self.claim + hex("81cb0001 00000005")
    var reader = RTCPReader(feedbackPackets: limit)
    var packets: [RTCPPacket] = []
    while let packet = reader.next(in: datagram.span.bytes) { packets.append(packet) }
    #expect(packets.count == count + 1 && packets.last == .goodbye(ssrcs: [5]))
  }

  @Test func noInputTraps() { attack(Self.compound, rounds: 5000) { _ = Self.read($0) } }
}
