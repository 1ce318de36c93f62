import Addresses
@testable import MediaRouter
import Testing

private let track = TrackID(1)

/// A publisher of VP8 and a subscriber to it.
private struct Call {
  let simulation: Simulation
  let publisher: SimulatedPeer
  let subscriber: SimulatedPeer
  var sources: [VP8Source]
  static let ssrc: UInt32 = 5000

  init(
    seed: UInt64 = 1, layers: Int = 1, sendTime: UInt8 = 0, rtx: Bool = true, firstNumber: UInt16 = 100
  ) {
    simulation = Simulation(seed: seed)
    publisher = simulation.join()
    subscriber = simulation.join()
    var parameters = TrackParameters(codec: .vp8, payloadType: 96)
    parameters.hasNack = true
    parameters.hasPictureLoss = true
    sources = (0..<layers).map { VP8Source(ssrc: UInt32(10 + $0), firstNumber: firstNumber) }
    if layers > 1 {
      parameters.extensions.streamID = 3
      parameters.layers = (0..<layers).map { TrackParameters.Layer(rid: [UInt8(ascii: "a") + UInt8($0)]) }
      for i in sources.indices { (sources[i].ridExtension, sources[i].rid) = (3, parameters.layers[i].rid) }
    }
    simulation.command(.publish(track, on: publisher.id, parameters))
    var subscription = SubscriptionParameters(ssrc: Self.ssrc, payloadType: 100)
    subscription.hasNack = true
    subscription.extensions.sendTime = sendTime
    if rtx { (subscription.rtxSSRC, subscription.rtxPayloadType) = (Self.ssrc + 1, 101) }
    subscriber.repairs = [Self.ssrc + 1: Self.ssrc]
    simulation.command(.subscribe(SubscriptionID(1), to: track, on: subscriber.id, subscription))
  }

  var received: [SimulatedPeer.Received] {
    (subscriber.received[Self.ssrc] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }

  /// Numbers without a gap, as the subscriber has them.
  var isComplete: Bool {
    let numbers = (subscriber.received[Self.ssrc] ?? [:]).keys.sorted()
    return numbers.isEmpty || Int(numbers.last! - numbers.first!) + 1 == numbers.count
  }

  /// Sends frames of all layers, 30 a second; a key frame first and whenever one was asked for.
  mutating func publish(frames: Int) {
    for _ in 0..<frames {
      for i in sources.indices {
        let asked = publisher.control.contains {
          if case .pictureLoss(_, let media) = $0 { media == sources[i].ssrc } else { false }
        }
        let isKey = sources[i].frames == 0 || asked && !answered.contains(publisher.pictureLossCount)
        for (packet, rollOver) in sources[i].frame(isKey: isKey) { publisher.send(packet, rollOver: rollOver) }
      }
      answered.insert(publisher.pictureLossCount)
      simulation.run(.milliseconds(33))
    }
  }

  private var answered: Set<Int> = []
}

@Suite struct RouterTests {
  @Test func whatIsPublishedArrivesUnderTheSubscribersNumbers() throws {
    var call = Call()
    call.publish(frames: 30)
    call.simulation.run(.milliseconds(100))
    #expect(call.received.count == 90)
    #expect(call.isComplete)
    let first = try #require(call.received.first)
    #expect(first.header.payloadType == 100)
    #expect(call.received.map(\.header.marker).prefix(4) == [false, false, true, false])
    // What the encoder wrote behind the descriptor is untouched.
    #expect(call.received.map { $0.payload.span.bytes.uint32(at: 7) } == Array(100..<190))
    let times = call.received.map(\.header.timestamp)
    #expect(times[3] &- times[0] == 3000 && times[2] == times[0])
    #expect(call.simulation.events.contains(.trackStarted(track)))
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func numbersWrap(_ seed: UInt64) {
    var call = Call(seed: seed, firstNumber: 65_500)
    call.publish(frames: 60)
    call.simulation.run(.milliseconds(100))
    #expect(call.received.count == 180)
    #expect(call.isComplete)
  }

  @Test(arguments: [5, 20], [1, 2, 3] as [UInt64])
  func lostReorderedAndRepeatedPacketsArriveInTheEnd(_ loss: Int, _ seed: UInt64) {
    var call = Call(seed: seed)
    call.publish(frames: 3)
    call.simulation.conditions = NetworkConditions(
      loss: loss, duplicates: 5, delay: .milliseconds(20), jitter: .milliseconds(loss == 5 ? 200 : 20))
    call.publish(frames: 150)
    call.simulation.conditions = NetworkConditions()
    call.publish(frames: 15)
    call.simulation.run(.milliseconds(500))
    // At a fifth lost each way some requests for one packet are all lost, and its turn passes.
    #expect(call.received.count >= 504 - (loss == 5 ? 0 : 12))
    #expect(call.isComplete || loss == 20)
    #expect(Set(call.received.map { $0.payload.span.bytes.uint32(at: 7) }).count == call.received.count)
  }

  @Test func withoutRTXAStampedPacketIsNotSentAgain() {
    for sendTime: UInt8 in [0, 4] {
      var call = Call(sendTime: sendTime, rtx: false)
      call.publish(frames: 5)
      let packet = call.received[4]
      let count = call.subscriber.control.count
      call.subscriber.sendControl {
        $0.nack(sender: 1, media: Call.ssrc, lost: [NackPair(first: packet.header.sequenceNumber, following: 0)])
      }
      call.simulation.run(.milliseconds(100))
      let entry = call.simulation.router.subscription(SubscriptionID(1))!.history.take(
        packet.header.sequenceNumber, now: call.simulation.now + .seconds(1))
      #expect((entry?.resends ?? 0) == (sendTime == 0 ? 2 : 0))
      #expect(call.subscriber.control.count >= count)
    }
  }

  @Test func whatIsTooLargeToBeSentOnIsLeftOut() {
    var call = Call()
    call.publish(frames: 2)
    let before = call.received.count
    // Header of 12 bytes and tag of 16.
    for extra in [0, 1] {
      var packet = call.sources[0].frame(isKey: false)[0]
      packet.packet += [UInt8](repeating: 9, count: SendBatch.datagramLimit - 16 - packet.packet.count + extra)
      call.publisher.send(packet.packet, rollOver: packet.rollOver)
    }
    call.simulation.run(.milliseconds(200))
    #expect(call.received.count == before + 1)
  }

  @Test func theSendTimeIsStamped() throws {
    var call = Call(sendTime: 4)
    call.publish(frames: 5)
    let stamps = try call.received.map { packet in
      let value = try #require(HeaderExtensions.value(4, of: packet.header, in: packet.packet))
      return packet.packet.span.bytes.uint24(at: value.lowerBound)
    }
    // 33 ms in 2^-18 s.
    let step = stamps[3] - stamps[0]
    #expect((8500...8800).contains(step))
  }

  @Test func aLayerIsChangedAtAKeyFrameWithoutASeam() {
    var call = Call(layers: 3)
    for layer in [0, 2, 1, 0, 2] {
      call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: layer)))
      call.publish(frames: 30)
      #expect(call.simulation.router.subscription(SubscriptionID(1))?.layer == layer)
    }
    #expect(call.isComplete)
    // One frame after the other: pictures by one, base layer by one, time forwards.
    let starts = call.received.filter { $0.payload[0] & 0x10 != 0 }
    for (a, b) in zip(starts, starts.dropFirst()) {
      let (before, after) = (a.payload.span.bytes, b.payload.span.bytes)
      #expect((after.uint16(at: 2) &- before.uint16(at: 2)) & 0x7FFF == 1)
      #expect(after.uint8(at: 4) &- before.uint8(at: 4) == 1)
      #expect(Int32(bitPattern: b.header.timestamp &- a.header.timestamp) > 0)
    }
    #expect(starts.count > 100)
  }

  @Test func ofLayersThatThePublisherLeavesOutTheNextLowerIsTaken() {
    var call = Call(layers: 3)
    let all = call.sources
    call.sources = [all[0], all[1]]
    call.publish(frames: 20)
    #expect(call.simulation.router.subscription(SubscriptionID(1))?.layer == 1)
    call.sources.append(all[2])
    call.publish(frames: 40)
    #expect(call.simulation.router.subscription(SubscriptionID(1))?.layer == 2)
    call.sources = [call.sources[0]]
    call.publish(frames: 60)
    #expect(call.simulation.router.subscription(SubscriptionID(1))?.layer == 0)
    #expect(call.isComplete)
  }

  @Test func temporalLayersAreLeftOutWithoutAGap() {
    var call = Call()
    call.sources[0].temporalLayers = 2
    call.publish(frames: 10)
    call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: 0, temporal: 0)))
    let before = call.received.count
    call.publish(frames: 20)
    call.simulation.run(.milliseconds(50))
    // One frame may have been on its way.
    let layers = call.received.dropFirst(before + 3).map { $0.payload[5] >> 6 }
    #expect(layers.count >= 27 && layers.allSatisfy { $0 == 0 })
    #expect(call.isComplete)
    let starts = call.received.filter { $0.payload[0] & 0x10 != 0 }.map { $0.payload.span.bytes.uint16(at: 2) }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { ($1 &- $0) & 0x7FFF == 1 })
  }

  @Test func aPausedSubscriptionGetsNothingAndGoesOnWithAKeyFrame() {
    var call = Call()
    call.publish(frames: 10)
    call.simulation.command(.pause(SubscriptionID(1), true))
    call.publish(frames: 2)
    let before = call.received.count
    call.publish(frames: 10)
    #expect(call.received.count == before)
    call.simulation.command(.pause(SubscriptionID(1), false))
    call.publish(frames: 30)
    #expect(call.received.count > before)
    #expect(call.isComplete)
    #expect(call.received[before].payload[6] == 0, "a key frame")
  }

  @Test func requestsForKeyFramesAreJoined() {
    var call = Call()
    call.publish(frames: 30)
    let before = call.publisher.pictureLossCount
    for _ in 0..<20 {
      call.subscriber.sendControl { $0.pictureLoss(sender: 1, media: Call.ssrc) }
      call.subscriber.sendControl { $0.fullIntra(sender: 1, requests: [FullIntraRequest(ssrc: Call.ssrc, number: 1)]) }
      call.simulation.run(.milliseconds(10))
    }
    call.publish(frames: 30)
    #expect(call.publisher.pictureLossCount - before == 1)
  }

  @Test func publishersHearReportsOfWhatArrives() throws {
    var call = Call()
    call.publish(frames: 60)
    let reports = call.publisher.control.compactMap { packet in
      if case .receiverReport(_, let reports) = packet { reports.first { $0.ssrc == 10 } } else { nil }
    }
    let last = try #require(reports.last)
    #expect(last.fractionLost == 0 && last.cumulativeLost == 0)
    #expect((130...280).contains(last.highestSequence))
  }

  // MARK: Bandwidth and sound

  @Test func aNarrowPathGetsALowerLayerThenSoundAlone() throws {
    var call = Call(layers: 3)
    call.sources[0].packetsPerFrame = 1
    call.sources[2].packetsPerFrame = 9
    var estimate: UInt64?
    func play(_ seconds: Int) {
      for _ in 0..<seconds {
        if let estimate {
          call.subscriber.sendControl { $0.receiverEstimate(sender: 1, bitsPerSecond: estimate, ssrcs: [Call.ssrc]) }
        }
        call.publish(frames: 30)
      }
    }
    let subscription = try #require(call.simulation.router.subscription(SubscriptionID(1)))
    play(3)
    #expect(subscription.layer == 2)
    // About 50, 160 and 470 kbit/s.
    estimate = 300_000
    play(4)
    #expect(subscription.layer == 1)
    estimate = 100_000
    play(3)
    #expect(subscription.layer == 0)
    estimate = 40_000
    play(3)
    #expect(subscription.layer == nil)
    #expect(call.simulation.events.last == .layer(SubscriptionID(1), nil))
    let before = call.received.count
    play(2)
    #expect(call.received.count == before)
    estimate = 5_000_000
    play(30)
    #expect(subscription.layer == 2)
    #expect(call.isComplete)
  }

  @Test func theSpeakerOfASessionIsTold() {
    let simulation = Simulation()
    let peers = [simulation.join(), simulation.join()]
    for (i, peer) in peers.enumerated() {
      var parameters = TrackParameters(codec: .opus, payloadType: 111)
      parameters.extensions.audioLevel = 1
      parameters.session = 7
      simulation.command(.publish(TrackID(UInt64(i)), on: peer.id, parameters))
    }
    for turn in 0..<2 {
      for number in 0..<150 as Range<UInt16> {
        for (i, peer) in peers.enumerated() {
          var packet = rtp(UInt16(turn) * 150 + number, ssrc: UInt32(i))
          packet[0] |= 0x10
          packet[1] = 111
          packet.insert(contentsOf: [0xBE, 0xDE, 0, 1, 0x10, i == turn ? 0x80 | 20 : 127, 0, 0], at: 12)
          peer.send(packet)
        }
        simulation.run(.milliseconds(20))
      }
    }
    let speakers = simulation.events.compactMap { event in
      if case .speaker(7, let track) = event { track.number } else { nil }
    }
    #expect(speakers == [0, 1])
    for peer in peers { simulation.command(.close(peer.id)) }
    #expect(simulation.router.speakers.isEmpty)
  }

  // MARK: Strangers

  @Test func aStrangerMakesNoState() {
    let simulation = Simulation()
    let local = ICECredentials(ufrag: Array("user".utf8), password: Array("password".utf8))
    let fingerprint = Fingerprint("sha-256 " + Array(repeating: "00", count: 32).joined(separator: ":"))!
    simulation.command(.open(TransportID(1), TransportParameters(local: local, fingerprint: fingerprint)))
    let stranger = TransportAddress(IPAddress("203.0.113.1")!, port: 1)
    var random = SeededGenerator(seed: 1)
    let forged = SimulatedPeer.check(ICECredentials(ufrag: local.ufrag, password: [1]))
    let unknown = SimulatedPeer.check(ICECredentials(ufrag: [1], password: local.password))
    for datagram in [forged, unknown, [22, 254, 253] + random.bytes(100), rtp(1), hex("80c90001 00000001"), []] {
      simulation.inject(datagram, from: stranger)
    }
    attack(SimulatedPeer.check(local).dropLast(40) + [], rounds: 500) { simulation.inject($0, from: stranger) }
    simulation.run(.milliseconds(50))
    #expect(simulation.router.counts == (1, 0, 0, 0))
    #expect(simulation.router.transport(ufrag: local.ufrag)?.dtls == nil)
  }

  @Test func anAddressIsTakenWhenItIsNominated() {
    var call = Call()
    call.publish(frames: 5)
    let other = TransportAddress(IPAddress("203.0.113.1")!, port: 1)
    let transport = call.simulation.router.transport(at: call.subscriber.address)!
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local, nominates: false), from: other)
    #expect(transport.address == call.subscriber.address)
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local, isControlling: false), from: other)
    #expect(transport.address == call.subscriber.address)
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local), from: other)
    #expect(transport.address == other)
    #expect(call.simulation.router.counts.addresses == 2)
  }

  // MARK: Ends

  @Test func aSilentPeerIsGone() {
    var call = Call()
    call.publish(frames: 5)
    call.subscriber.isSilent = true
    call.simulation.run(.seconds(33))
    #expect(call.simulation.events.contains(.ended(call.subscriber.id, .silence)))
    #expect(call.simulation.router.counts == (1, 1, 0, 1))
  }

  @Test func aGoodbyeTakesTracksAndSubscriptionsAway() {
    var call = Call()
    call.publish(frames: 5)
    call.publisher.close()
    call.simulation.run(.milliseconds(100))
    #expect(call.simulation.events.contains(.ended(call.publisher.id, .goodbye)))
    #expect(call.simulation.router.counts == (1, 0, 0, 1))
    call.simulation.command(.close(call.subscriber.id))
    #expect(call.simulation.router.counts == (0, 0, 0, 0))
    #expect(call.simulation.router.deadline == nil)
  }

  @Test func limitsHoldOnBothSides() {
    var limits = RouterLimits()
    limits.transports = 2
    limits.tracksOfTransport = 1
    limits.subscriptionsOfTransport = 1
    let simulation = Simulation(limits: limits)
    let (a, b) = (simulation.join(), simulation.join())
    func publish(_ id: UInt64) {
      simulation.command(.publish(TrackID(id), on: a.id, TrackParameters(codec: .vp8, payloadType: 96)))
    }
    func subscribe(_ id: UInt64) {
      simulation.command(
        .subscribe(
          SubscriptionID(id), to: TrackID(1), on: b.id, SubscriptionParameters(ssrc: UInt32(id), payloadType: 96)))
    }
    publish(1)
    subscribe(1)
    #expect(simulation.router.events.isEmpty)
    publish(2)
    subscribe(2)
    let local = ICECredentials(ufrag: [1], password: [2])
    let fingerprint = simulation.router.identity.fingerprint
    simulation.command(.open(TransportID(9), TransportParameters(local: local, fingerprint: fingerprint)))
    #expect(simulation.router.events == [.refused(a.id), .refused(b.id), .refused(TransportID(9))])
    #expect(simulation.router.counts == (2, 1, 1, 2))
  }

  @Test func handshakesSurviveLoss() {
    for seed in 1...5 as ClosedRange<UInt64> {
      let simulation = Simulation(seed: seed)
      simulation.sparesHandshake = false
      simulation.conditions.loss = 30
      let peer = simulation.join()
      simulation.run(.seconds(20)) { peer.isConnected }
      #expect(peer.isConnected)
    }
  }
}
