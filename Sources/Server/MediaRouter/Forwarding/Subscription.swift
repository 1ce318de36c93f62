/// A track on its way to one subscriber: which layer it gets, under which numbers.
final class Subscription {
  let id: SubscriptionID
  let parameters: SubscriptionParameters
  let writer: PacketWriter
  unowned let track: Track
  unowned let transport: Transport

  /// What the subscriber asked for at most.
  var limit = LayerLimit.highest
  /// What its path carries, by the allocator; nil for nothing.
  var allocated: Int?
  var isPaused = false
  /// The layer that is forwarded; nil until its first key frame.
  private(set) var layer: Int?
  var rewriter: StreamRewriter
  var history = SentHistory()
  var rtxIndex: UInt64
  var packetCount: UInt32 = 0
  var octetCount: UInt32 = 0
  private var temporal: UInt8 = 7

  init(
    _ id: SubscriptionID, _ parameters: SubscriptionParameters, to track: Track, on transport: Transport,
    using random: inout some RandomNumberGenerator
  ) {
    self.id = id
    self.parameters = parameters
    self.track = track
    self.transport = transport
    // Where it is measured what the path carries, nothing is known in the beginning.
    allocated = transport.path.sender == nil ? track.layers.count - 1 : 0
    writer = PacketWriter(mid: parameters.mid, extensions: parameters.extensions)
    rewriter = StreamRewriter(
      clockRate: track.parameters.codec.clockRate, firstIndex: .random(in: 1...0x3FFF, using: &random),
      firstTimestamp: .random(in: .min ... .max, using: &random))
    rtxIndex = UInt64.random(in: 1...0x3FFF, using: &random)
  }

  /// Whether a lost packet can be sent again without using a nonce for two texts.
  var canResend: Bool { parameters.hasNack && (parameters.rtxSSRC != nil || !writer.isStamped) }

  /// Whether its repair stream may carry padding whose arrival is told.
  var canProbe: Bool { parameters.rtxSSRC != nil && parameters.extensions.transportSequence != 0 }

  /// The layer that it shall get: the highest allowed one that the publisher sends; nil for none.
  var target: Int? {
    guard !isPaused, !track.isMuted, let allocated else { return nil }
    let highest = max(0, min(allocated, limit.spatial, track.layers.count - 1))
    return (0...highest).last { track.isAlive($0) } ?? highest
  }

  /// What becomes of a packet of a layer; nil if this subscriber does not get it. A key frame that is wanted is asked for.
  func rewrite(_ packet: MediaPacket, of position: Int, now: MediaTime) -> StreamRewriter.Output? {
    guard let target = target else {
      layer = nil
      return nil
    }
    if layer != target, position == target {
      if !track.parameters.codec.isVideo || packet.payload.isKeyFrame {
        layer = target
        temporal = limit.temporal
        rewriter.begin(at: packet, now: now)
      } else {
        track.layers[target].keyFrames.want()
      }
    }
    guard position == layer else { return nil }
    // Fewer temporal layers from a picture on, more only from one that needs none of those left out.
    if packet.payload.startsFrame && (limit.temporal < temporal || mayRise(at: packet)) { temporal = limit.temporal }
    guard packet.payload.temporalLayer <= temporal else {
      rewriter.skip(packet, wholePicture: true)
      return nil
    }
    return rewriter.rewrite(packet, now: now)
  }

  private func mayRise(at packet: MediaPacket) -> Bool {
    packet.payload.isKeyFrame || packet.payload.isSwitchingPoint && packet.payload.temporalLayer == temporal + 1
  }
}
