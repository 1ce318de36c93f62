/// One SSRC of a publisher's track as it arrives: its packets of late, what is missing, and what it reports.
final class Layer {
  let rid: [UInt8]
  let cache: PacketCache
  /// 0 until the first packet, where SDP does not tell.
  var ssrc: UInt32
  var rtxSSRC: UInt32
  var unwrapper = SequenceUnwrapper()
  var losses = LossDetector()
  var keyFrames = KeyFrameRequests()
  var statistics: ReceptionStatistics
  var lastSenderReport: SenderReport?
  var structure: DependencyDescriptor.Structure?
  private(set) var lastArrival: MediaTime?
  private(set) var pictureBytes = PictureBytes()
  /// Of spatial layers within this SSRC, each by itself; all of it counts as the lowest where there are none.
  private var spatial: [(rate: RateMeter, lastArrival: MediaTime?)]
  /// Packets that came with the datagrams read last and are not forwarded yet.
  var pending: [UInt64] = []

  init(_ parameters: TrackParameters.Layer, _ codec: Codec, cacheBytesLimit: Int) {
    rid = parameters.rid
    ssrc = parameters.ssrc ?? 0
    rtxSSRC = parameters.rtxSSRC ?? 0
    spatial = Array(repeating: (RateMeter(), nil), count: codec.isScalable ? TrackParameters.layersLimit : 1)
    statistics = ReceptionStatistics(clockRate: codec.clockRate)
    cache =
      codec.isVideo
      ? PacketCache(bytesLimit: max(1 << 15, cacheBytesLimit)) : PacketCache(bytes: 1 << 14, bytesLimit: 1 << 14, entries: 64)
  }

  func receive(_ bytes: Int, spatialLayer: UInt8, timestamp: UInt32, now: MediaTime) {
    pictureBytes.add(bytes, timestamp: timestamp)
    let position = min(Int(spatialLayer), spatial.count - 1)
    spatial[position].rate.add(bytes, now: now)
    spatial[position].lastArrival = now
    lastArrival = now
  }

  func lastArrival(spatialLayer: Int) -> MediaTime? { spatialLayer < spatial.count ? spatial[spatialLayer].lastArrival : nil }

  /// Bits a second of the spatial layers up to this one.
  func rate(upTo spatialLayer: Int = .max, now: MediaTime) -> Int {
    var sum = 0
    for i in spatial.indices where i <= spatialLayer { sum += spatial[i].rate.bitsPerSecond(now: now) }
    return sum
  }
}
