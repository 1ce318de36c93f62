import Addresses
@testable import MediaRouter
import Testing

/// What a network does to datagrams.
struct NetworkConditions {
  /// Of 100.
  var loss = 0
  var duplicates = 0
  var delay = MediaTime.Interval.milliseconds(10)
  /// Added to the delay, up to this, so that datagrams overtake each other.
  var jitter = MediaTime.Interval.milliseconds(0)
}

/// A router and its peers in one thread, one clock and one seed.
final class Simulation {
  private struct Flight {
    let bytes: [UInt8]
    let from: TransportAddress
    let to: TransportAddress
    let arrival: MediaTime
  }

  static let routerAddress = TransportAddress(IPAddress("192.0.2.1")!, port: 5000)

  private(set) var now = MediaTime.zero
  var conditions = NetworkConditions()
  /// The handshake is not what is tested.
  var sparesHandshake = true
  private(set) var router: Router!
  private(set) var events: [RouterEvent] = []
  private var random: SeededGenerator
  private var flights: [Flight] = []
  private var peers: [TransportAddress: SimulatedPeer] = [:]
  private static let routerIdentity = try! DTLSIdentity()
  private static let peerIdentity = try! DTLSIdentity()

  init(seed: UInt64 = 1, limits: RouterLimits = RouterLimits()) {
    random = SeededGenerator(seed: seed)
    router = Router(Self.routerIdentity, limits: limits, random: SeededGenerator(seed: seed)) { [unowned self] batch in
      batch.forEachDatagram { bytes, address in self.fly(Array(bytes), from: Self.routerAddress, to: address) }
    }
  }

  /// A peer that is connected already.
  func join() -> SimulatedPeer {
    let number = UInt64(peers.count + 1)
    let local = ICECredentials(ufrag: Array("user\(number)".utf8), password: Array("password-password-\(number)".utf8))
    command(.open(TransportID(number), TransportParameters(local: local, fingerprint: Self.peerIdentity.fingerprint)))
    let address = TransportAddress(IPAddress("198.51.100.\(number)")!, port: 6000)
    let peer = SimulatedPeer(
      TransportID(number), address, local, Self.peerIdentity, expects: Self.routerIdentity.fingerprint)
    peers[address] = peer
    run(.milliseconds(400)) { peer.isConnected }
    return peer
  }

  func command(_ command: RouterCommand) { router.handle(command, now: now) }

  /// Hands the router a datagram at once.
  func inject(_ bytes: [UInt8], from address: TransportAddress) {
    var copy = bytes
    copy.withUnsafeMutableBytes { router.receive($0, from: address, now: now) }
    router.flush(now: now)
  }

  /// In steps of a millisecond, until the time is over or the condition holds.
  func run(_ interval: MediaTime.Interval, until isDone: () -> Bool = { false }) {
    let end = now + interval
    while now < end && !isDone() {
      now = now + .milliseconds(1)
      for peer in peers.values.sorted(by: { $0.id.number < $1.id.number }) {
        for datagram in peer.advance(now) { fly(datagram, from: peer.address, to: Self.routerAddress) }
      }
      let due = flights.filter { $0.arrival <= now }.sorted { $0.arrival < $1.arrival }
      flights.removeAll { $0.arrival <= now }
      for flight in due {
        if flight.to == Self.routerAddress {
          var bytes = flight.bytes
          bytes.withUnsafeMutableBytes { router.receive($0, from: flight.from, now: now) }
        } else {
          peers[flight.to]?.receive(flight.bytes, now)
        }
      }
      router.flush(now: now)
      router.advance(to: now)
      events += router.events
      router.events = []
    }
  }

  private func fly(_ bytes: [UInt8], from: TransportAddress, to: TransportAddress) {
    let isMedia = DatagramKind(bytes) == .rtp || DatagramKind(bytes) == .rtcp
    let isSpared = sparesHandshake && !isMedia
    if !isSpared, Int.random(in: 0..<100, using: &random) < conditions.loss { return }
    let copies = !isSpared && Int.random(in: 0..<100, using: &random) < conditions.duplicates ? 2 : 1
    for _ in 0..<copies {
      let jitter = Int64.random(in: 0...conditions.jitter.microseconds, using: &random)
      let delay = MediaTime.Interval(microseconds: conditions.delay.microseconds + jitter)
      flights.append(Flight(bytes: bytes, from: from, to: to, arrival: now + delay))
    }
  }
}

/// A peer as a browser is one: controlling, DTLS client, repeats what is asked for, asks for what it misses.
final class SimulatedPeer {
  struct Received {
    var header: RTPHeader
    var payload: [UInt8]
    var packet: [UInt8]
  }

  let id: TransportID
  let address: TransportAddress
  var isSilent = false
  /// Of the SSRC that it repairs, by that of the repair.
  var repairs: [UInt32: UInt32] = [:]
  var asksAgain = true
  private(set) var received: [UInt32: [UInt64: Received]] = [:]
  private(set) var control: [RTCPPacket] = []
  private let credentials: ICECredentials
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
      requestMissing()
    }
    defer { output = [] }
    return output
  }

  func receive(_ datagram: [UInt8], _ now: MediaTime) {
    switch DatagramKind(datagram) {
    case .stun:
      guard dtls == nil, let message = STUNMessage(datagram), message.kind == .bindingSuccess else { return }
      dtls = DTLSSession(identity, isClient: true, fingerprint: expected, now: now)
    case .dtls:
      guard let dtls else { return }
      dtls.receive(datagram.span.bytes, now: now)
      guard sender == nil, let keys = dtls.keys else { return }
      sender = SRTPSender(keys.profile, keys.client)
      receiver = SRTPReceiver(keys.profile, keys.server, streamsLimit: 50)
    case .rtp: if let receiver, let packet = open(datagram, receiver) { take(packet) }
    case .rtcp: if let receiver, let packet = openControl(datagram, receiver) { takeControl(packet) }
    case nil: break
    }
  }

  private func take(_ packet: [UInt8]) {
    guard let header = RTPHeader(packet) else { return }
    var payload = Array(packet[header.payload])
    var ssrc = header.ssrc
    var number = header.sequenceNumber
    if let repaired = repairs[ssrc] {
      number = payload.span.bytes.uint16(at: 0)
      payload.removeFirst(2)
      ssrc = repaired
    }
    let sequence = unwrappers[ssrc, default: SequenceUnwrapper()].unwrap(number)
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

  private func requestMissing() {
    for (ssrc, packets) in received where repairs.values.contains(ssrc) {
      guard let first = packets.keys.min(), let last = packets.keys.max() else { continue }
      let missing = (first...last).filter { packets[$0] == nil }.suffix(100)
      if !missing.isEmpty { sendControl { $0.nack(sender: 77, media: ssrc, lost: [NackPair](Array(missing))) } }
    }
  }
}

/// Pictures of VP8 as an encoder sends them, of one layer.
struct VP8Source {
  let ssrc: UInt32
  var rid: [UInt8] = []
  var ridExtension: UInt8 = 0
  var packetsPerFrame = 3
  var temporalLayers: UInt8 = 1
  private(set) var sequenceNumber: UInt32
  private(set) var timestamp: UInt32
  private var picture: UInt16
  private var baseLayer: UInt8
  private(set) var frames = 0

  init(ssrc: UInt32, firstNumber: UInt16 = 100) {
    self.ssrc = ssrc
    sequenceNumber = UInt32(firstNumber)
    timestamp = ssrc &* 1000
    picture = UInt16(truncatingIfNeeded: ssrc &* 7)
    baseLayer = UInt8(truncatingIfNeeded: ssrc)
  }

  /// The packets of the next frame, with the ROC of each.
  mutating func frame(isKey: Bool) -> [(packet: [UInt8], rollOver: UInt32)] {
    let temporal = isKey ? 0 : UInt8(frames % Int(temporalLayers))
    defer {
      frames += 1
      timestamp &+= 3000
      picture = (picture &+ 1) & 0x7FFF
    }
    if temporal == 0 { baseLayer &+= 1 }
    return (0..<packetsPerFrame).map { i in
      var packet: [UInt8] = [ridExtension == 0 ? 0x80 : 0x90, 96 | (i == packetsPerFrame - 1 ? 0x80 : 0)]
      packet.append(number: UInt16(truncatingIfNeeded: sequenceNumber))
      packet.append(number: timestamp)
      packet.append(number: ssrc)
      if ridExtension != 0 {
        packet += [0xBE, 0xDE, 0, 1, ridExtension << 4, rid[0], 0, 0]
      }
      packet += [i == 0 ? 0x90 : 0x80, 0xE0]
      packet.append(number: picture | 0x8000)
      packet += [baseLayer, temporal << 6, isKey && i == 0 ? 0 : 1]
      packet.append(number: sequenceNumber)
      packet += [UInt8](repeating: UInt8(i), count: 200)
      defer { sequenceNumber += 1 }
      return (packet, sequenceNumber >> 16)
    }
  }
}
