@testable import MediaRouter

/// A publisher of sound and of three layers of video (about 160, 500 and 1,500 kbit/s), and a subscriber behind a link, who tells when packets
/// arrive.
struct LimitedCall {
  let simulation: Simulation
  let publisher: SimulatedPeer
  let subscriber: SimulatedPeer
  private var sources: [VP8Source]
  private var sound: UInt16 = 0
  private var answered = 0
  private var milliseconds = 0
  private var hasPicture = false
  /// Milliseconds of sound alone after the first picture.
  private(set) var resting = 0
  static let video = SubscriptionID(1)
  static let soundSSRC: UInt32 = 6000

  /// - Parameter layers: packets of each picture, of the lowest layer first.
  init(seed: UInt64 = 1, rate: Int?, layers: [Int] = [3, 9, 27]) {
    sources = layers.enumerated().map { layer, packets in
      var source = VP8Source(ssrc: UInt32(10 + layer))
      (source.packetsPerFrame, source.ridExtension, source.rid) = (packets, 3, [UInt8(ascii: "a") + UInt8(layer)])
      return source
    }
    simulation = Simulation(seed: seed)
    publisher = simulation.join()
    subscriber = simulation.join()
    simulation.conditions.rate = rate
    simulation.conditions.delay = .milliseconds(20)
    subscriber.feedbackExtension = 5
    subscriber.repairs = [Call.ssrc + 1: Call.ssrc]
    var track = TrackParameters(codec: .vp8, payloadType: 96)
    (track.hasNack, track.hasPictureLoss) = (true, true)
    track.extensions.streamID = 3
    track.layers = sources.map { TrackParameters.Layer(rid: $0.rid) }
    simulation.command(.publish(Call.track, on: publisher.id, track))
    simulation.command(.publish(TrackID(2), on: publisher.id, TrackParameters(codec: .opus, payloadType: 111)))
    var video = SubscriptionParameters(ssrc: Call.ssrc, payloadType: 100)
    video.hasNack = true
    video.extensions.transportSequence = 5
    (video.rtxSSRC, video.rtxPayloadType) = (Call.ssrc + 1, 101)
    simulation.command(.subscribe(Self.video, to: Call.track, on: subscriber.id, video))
    var sound = SubscriptionParameters(ssrc: Self.soundSSRC, payloadType: 111)
    sound.extensions.transportSequence = 5
    simulation.command(.subscribe(SubscriptionID(2), to: TrackID(2), on: subscriber.id, sound))
  }

  var layer: Int? { simulation.unit.subscription(Self.video)?.layer }

  /// How often the layer was changed.
  var changes: Int { simulation.events.count { if case .layer(Self.video, _) = $0 { true } else { false } } }

  /// Of the sound sent since the beginning, in percent.
  var soundReceived: Double { 100 * Double(subscriber.received[Self.soundSSRC]?.count ?? 0) / Double(max(1, sound)) }

  /// Packets of sound that were sent.
  var soundCount: Int { Int(sound) }

  mutating func play(seconds: Int, until isDone: (LimitedCall) -> Bool = { _ in false }) {
    play(milliseconds: 1000 * seconds, until: isDone)
  }

  mutating func play(milliseconds count: Int, until isDone: (LimitedCall) -> Bool = { _ in false }) {
    let end = milliseconds + count
    while milliseconds < end, !isDone(self) {
      if hasPicture, layer == nil { resting += 1 }
      hasPicture = hasPicture || layer != nil
      if milliseconds % 20 == 0 { sendSound() }
      if milliseconds % 33 == 0 { sendVideo() }
      simulation.run(.milliseconds(1))
      milliseconds += 1
    }
  }

  private mutating func sendSound() {
    var packet: [UInt8] = [0x80, 111]
    packet.append(number: sound)
    packet.append(number: UInt32(sound) * 960)
    packet.append(number: UInt32(20))
    publisher.send(packet + [UInt8](repeating: 7, count: 80))
    sound += 1
  }

  private mutating func sendVideo() {
    let asked = publisher.pictureLossCount
    for i in sources.indices {
      let isKey = sources[i].frames == 0 || asked > answered
      for (packet, rollOver) in sources[i].frame(isKey: isKey) { publisher.send(packet, rollOver: rollOver) }
    }
    answered = asked
  }
}
