@testable import MediaRouter
import Testing

/// A peer as a browser is one: controlling, DTLS client, repeats what is asked for, asks for what it misses.
final class SimulatedPeer {
  struct Received {
    var header: RTPHeader
    var payload: [UInt8]
    var packet: [UInt8]
  }

  let id: TransportID
  var address: TransportAddress
  var isSilent = false
  /// Of the SSRC that it repairs, by that of the repair.
  var repairs: [UInt32: UInt32] = [:]
  var asksAgain = true
  /// The extension with transport-wide numbers: it tells when packets arrive, and each second what is lost. 0 for none.
  var feedbackExtension: UInt8 = 0
  private(set) var received: [UInt32: [UInt64: Received]] = [:]
  private(set) var control: [RTCPPacket] = []
  private(set) var paddingCount = 0
  /// What went out and came in last, sealed as it was.
  private(set) var overheard: [[UInt8]] = []
  /// Its checks carry them from the next one on.
  var credentials: ICECredentials
  private let identity: DTLSIdentity
  private let expected: Fingerprint
  private var dtls: DTLSSession?
  private var sender: SRTPSender?
  private var receiver: SRTPReceiver?
  private var output: [[UInt8]] = []
  private var nextCheck = MediaTime.zero
  private var nextRequest = MediaTime.zero
  private var sent: [UInt32: [UInt16: [UInt8]]] = [:]
  private var unwrappers: [UInt32: SequenceUnwrapper] = [:]
  private var highest: [UInt32: UInt64] = [:]
  private var lowest: [UInt32: UInt64] = [:]
  private var recorder = FeedbackRecorder()
  private var statistics: [UInt32: ReceptionStatistics] = [:]
  private var nextFeedback = MediaTime.zero
  private var nextReport = MediaTime.zero

  init(
    _ id: TransportID, _ address: TransportAddress, _ credentials: ICECredentials, _ identity: DTLSIdentity,
    expects fingerprint: Fingerprint
  ) {
    self.id = id
    self.address = address
    self.credentials = credentials
    self.identity = identity
    expected = fingerprint
  }

  /// Its side of the credentials.
  static let ufrag = Array("peer".utf8)
  static func password(_ id: TransportID) -> [UInt8] { Array("password-of-the-peer-\(id.number)".utf8) }

  var isConnected: Bool { sender != nil }
  var pictureLossCount: Int { control.count { if case .pictureLoss = $0 { true } else { false } } }

  static func check(_ credentials: ICECredentials, nominates: Bool = true, isControlling: Bool = true) -> [UInt8] {
    var writer = STUNWriter(.bindingRequest, transactionID: Array(0..<12))
    writer.username(credentials.ufrag + Array(":peer".utf8))
    writer.priority(1)
    writer.role(isControlling: isControlling, tieBreaker: 1)
    if nominates { writer.useCandidate() }
    return writer.seal(key: HMACSHA1(key: credentials.password))
  }

  /// Sends an RTP packet whose header is complete.
  func send(_ packet: [UInt8], rollOver: UInt32 = 0) {
    guard let sender, let header = RTPHeader(packet) else { return }
    let sealed = seal(packet, sender, rollOver: rollOver)
    sent[header.ssrc, default: [:]][header.sequenceNumber] = sealed
    output.append(sealed)
  }

  func sendControl(_ body: (inout RTCPWriter) -> Void) {
    guard let sender else { return }
    var writer = RTCPWriter()
    writer.receiverReport(sender: 77)
    body(&writer)
    output.append(sender.sealControl(writer.bytes))
  }

  func close() { dtls?.close() }

  func advance(_ now: MediaTime) -> [[UInt8]] {
    if now >= nextCheck && !isSilent {
      nextCheck = now + (isConnected ? .seconds(2) : .milliseconds(50))
      output.append(Self.check(credentials))
    }
    dtls?.advance(to: now)
    if let dtls {
      output += dtls.output
      dtls.output = []
    }
    if now >= nextRequest && asksAgain {
      nextRequest = now + .milliseconds(30)
      requestMissing(now)
    }
    if feedbackExtension != 0 { sendFeedback(now) }
    overheard = (overheard + output).suffix(32)
    defer { output = [] }
    return output
  }

  func receive(_ datagram: [UInt8], _ now: MediaTime) {
    overheard = (overheard + [datagram]).suffix(32)
    switch DatagramKind(datagram) {
    case .stun:
      if let message = STUNMessage(datagram), message.kind == .bindingRequest,
        message.isAuthentic(datagram, key: HMACSHA1(key: Self.password(id)))
      {
        var writer = STUNWriter(.bindingSuccess, transactionID: message.transactionID)
        writer.mappedAddress(Simulation.routerAddress)
        output.append(writer.seal(key: HMACSHA1(key: Self.password(id))))
      }
      guard dtls == nil, let message = STUNMessage(datagram), message.kind == .bindingSuccess else { return }
      dtls = DTLSSession(identity, isClient: true, fingerprint: expected, now: now)
    case .dtls:
      guard let dtls else { return }
      dtls.receive(datagram.span.bytes, now: now)
      guard sender == nil, let keys = dtls.keys else { return }
      sender = SRTPSender(keys.profile, keys.client)
      receiver = SRTPReceiver(keys.profile, keys.server, streamsLimit: 50)
    case .rtp: if let receiver, let packet = open(datagram, receiver) { take(packet, now) }
    case .rtcp: if let receiver, let packet = openControl(datagram, receiver) { takeControl(packet) }
    case nil: break
    }
  }

  private func take(_ packet: [UInt8], _ now: MediaTime) {
    guard let header = RTPHeader(packet) else { return }
    if let value = HeaderExtensions.value(feedbackExtension, of: header, in: packet) {
      recorder.receive(packet.span.bytes.uint16(at: value.lowerBound), now: now)
    }
    guard !header.payload.isEmpty else { return paddingCount += 1 }
    var payload = Array(packet[header.payload])
    var ssrc = header.ssrc
    var number = header.sequenceNumber
    if let repaired = repairs[ssrc] {
      number = payload.span.bytes.uint16(at: 0)
      payload.removeFirst(2)
      ssrc = repaired
    }
    let sequence = unwrappers[ssrc, default: SequenceUnwrapper()].unwrap(number)
    highest[ssrc] = max(highest[ssrc] ?? 0, sequence)
    lowest[ssrc] = min(lowest[ssrc] ?? .max, sequence)
    if ssrc == header.ssrc {
      statistics[ssrc, default: ReceptionStatistics(clockRate: 90_000)].receive(sequence, timestamp: header.timestamp, now: now)
    }
    #expect(received[ssrc]?[sequence] == nil || repairs.values.contains(ssrc), "no packet comes twice")
    received[ssrc, default: [:]][sequence] = Received(header: header, payload: payload, packet: packet)
  }

  private func takeControl(_ datagram: [UInt8]) {
    var reader = RTCPReader()
    while let packet = reader.next(in: datagram.span.bytes) {
      control.append(packet)
      guard case .nack(_, let media, let lost) = packet else { continue }
      for pair in lost { pair.forEach { if let again = sent[media]?[$0] { output.append(again) } } }
    }
  }

  /// As Chromium does it: with a report on what came since the last one, however little.
  private func requestMissing(_ now: MediaTime) {
    for (ssrc, packets) in received where repairs.values.contains(ssrc) {
      guard let first = lowest[ssrc], let last = highest[ssrc] else { continue }
      let missing = (max(first, last - min(last, 300))...last).filter { packets[$0] == nil }.suffix(100)
      guard !missing.isEmpty else { continue }
      let reports = feedbackExtension == 0 ? [] : takeReports(now)
      sendControl {
        $0.receiverReport(sender: 77, reports: reports)
        $0.nack(sender: 77, media: ssrc, lost: [NackPair](Array(missing)))
      }
    }
  }

  private func takeReports(_ now: MediaTime) -> [ReceptionReport] {
    statistics.keys.sorted().compactMap { statistics[$0]!.report($0, now: now) }
  }

  private func sendFeedback(_ now: MediaTime) {
    if now >= nextFeedback, let feedback = recorder.take(sender: 77, media: 0) {
      nextFeedback = now + .milliseconds(50)
      sendControl { $0.transportFeedback(feedback) }
    }
    guard now >= nextReport else { return }
    nextReport = now + .seconds(1)
    let reports = takeReports(now)
    sendControl { $0.receiverReport(sender: 77, reports: reports) }
  }
}
