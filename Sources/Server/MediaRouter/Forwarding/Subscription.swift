/// A track on its way to one subscriber: which layer it gets, under which numbers.
final class Subscription {
  let id: SubscriptionID
  let parameters: SubscriptionParameters
  let writer: PacketWriter
  unowned let track: Track
  /// nil for a tap.
  unowned let transport: Transport?

  /// What the subscriber asked for at most.
  var limit = LayerLimit.highest
  /// What its path carries, by the allocator; nil for nothing.
  var allocated: Int?
  var isPaused = false
  /// The layer that is forwarded; nil until its first key frame.
  private(set) var layer: Int?
  /// The layer that was forwarded last. Stays set while no layer is forwarded.
  private var lastLayer: Int?
  @exclusivity(unchecked) var rewriter: StreamRewriter
  @exclusivity(unchecked) var history = SentHistory()
  var rtxIndex: UInt64
  var packetCount: UInt32 = 0
  var octetCount: UInt32 = 0
  /// What the subscriber reported of it last.
  var lastReport: ReceptionReport?
  @exclusivity(unchecked) private var filter = LayerFilter()

  init(
    _ id: SubscriptionID, _ parameters: SubscriptionParameters, to track: Track, on transport: Transport?,
    using random: inout some RandomNumberGenerator
  ) {
    self.id = id
    self.parameters = parameters
    self.track = track
    self.transport = transport
    // Where it is measured what the path carries, nothing is known in the beginning.
    allocated = transport?.path.sender == nil ? track.parameters.highestLayer : 0
    writer = PacketWriter(mid: parameters.mid, extensions: parameters.extensions)
    rewriter = StreamRewriter(
      clockRate: track.parameters.codec.clockRate, firstIndex: .random(in: 1...0x3FFF, using: &random),
      firstTimestamp: .random(in: .min ... .max, using: &random))
    rtxIndex = UInt64.random(in: 1...0x3FFF, using: &random)
  }

  var isTap: Bool { transport == nil }

  /// Whether a lost packet can be sent again without using a nonce for two texts.
  var canResend: Bool { parameters.hasNack && (parameters.rtxSSRC != nil || !writer.isStamped) }

  /// Whether its repair stream may carry padding whose arrival is told.
  var canProbe: Bool { parameters.rtxSSRC != nil && parameters.extensions.transportSequence != 0 }

  /// The layer that it shall get: the highest allowed one that the publisher sends; nil for none.
  var target: Int? { target(of: track) }

  /// The same where the track is at hand.
  func target(of track: Track) -> Int? {
    guard !isPaused, !track.isMuted, let allocated else { return nil }
    let highest = max(0, min(allocated, ceiling(of: track)))
    return (0...highest).last { track.isAlive($0) } ?? highest
  }

  /// The highest layer that it may get, whatever the bandwidth. Who gets AV1 without descriptors takes each frame for a picture.
  var ceiling: Int { ceiling(of: track) }

  private func ceiling(of track: Track) -> Int {
    guard track.isScalable else { return max(0, min(limit.spatial, track.layers.count - 1)) }
    let isBare = track.parameters.codec == .av1 && parameters.extensions.dependencyDescriptor == 0
    return isBare ? 0 : max(0, min(limit.spatial, track.highestLayer))
  }

  /// Which of the track's SSRCs it shall get.
  var source: Int? { target.map { track.isScalable ? 0 : $0 } }

  /// Of a usual picture that it gets; nil while it gets none.
  var pictureBytes: Int? { layer.map { track.layers[$0].pictureBytes.usual } }

  /// The highest layer within an SSRC that it gets.
  var spatialLayer: Int { Int(filter.spatial) }

  /// What becomes of a packet of a layer; nil if this subscriber does not get it. A key frame that is wanted is asked for.
  ///
  /// - Parameters:
  ///   - track: of this subscription.
  ///   - target: that of `target(of:)`, which is one for all packets that are forwarded together.
  func rewrite(
    _ packet: MediaPacket, of position: Int, _ track: Track, target: Int?, now: MediaTime
  ) -> StreamRewriter.Output? {
    guard let target else {
      layer = nil
      return nil
    }
    let source = track.isScalable ? 0 : target
    let isVideo = track.parameters.codec.isVideo
    if layer != source, position == source {
      if !isVideo || packet.payload.isKeyFrame {
        let captured = lastLayer.flatMap {
          track.ticks(from: rewriter.lastSourceTimestamp, of: $0, to: packet.timestamp, of: source)
        }
        (layer, lastLayer) = (source, source)
        rewriter.begin(at: packet, now: now, captured: captured)
      } else {
        track.layers[source].keyFrames.want()
      }
    }
    guard position == layer else { return nil }
    guard isVideo else { return rewriter.rewrite(packet, now: now) }
    let wish = LayerFilter.Wish(spatial: track.isScalable ? UInt8(target) : .max, temporal: limit.temporal)
    let verdict = filter.decide(
      packet.payload, wish, packet.payload.decodeTargets == nil ? nil : track.layers[position].structure)
    if verdict.wantsKeyFrame { track.layers[position].keyFrames.want() }
    guard verdict.passes else {
      // In VP9 pictures name each other by the difference of their numbers.
      rewriter.skip(packet, wholePicture: track.parameters.codec == .vp8)
      return nil
    }
    var output = rewriter.rewrite(packet, now: now)
    if verdict.endsPicture { output?.marker = true }
    return output
  }
}
