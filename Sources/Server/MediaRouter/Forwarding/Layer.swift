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
  var rate = RateMeter()
  var lastArrival: MediaTime?
  /// Packets that came with the datagrams read last and are not forwarded yet.
  var pending: [UInt64] = []

  init(_ parameters: TrackParameters.Layer, _ codec: Codec, cacheBytesLimit: Int) {
    rid = parameters.rid
    ssrc = parameters.ssrc ?? 0
    rtxSSRC = parameters.rtxSSRC ?? 0
    statistics = ReceptionStatistics(clockRate: codec.clockRate)
    cache =
      codec.isVideo
      ? PacketCache(bytesLimit: max(1 << 15, cacheBytesLimit)) : PacketCache(bytes: 1 << 14, bytesLimit: 1 << 14, entries: 64)
  }
}
