/// ICE, DTLS and SRTP with one peer.
final class Transport {
  /// A bitrate cap so high that it has no effect. It lifts an earlier cap, because peers keep the last one.
  static let unlimited: UInt64 = 10_000_000_000

  /// What an SSRC of the peer carries.
  struct Source {
    var ssrc: UInt32
    var track: Track
    var layer: Int
    var isRetransmission: Bool
  }

  let id: TransportID
  let parameters: TransportParameters
  /// The nominated pair; nothing is sent before.
  var address: TransportAddress?
  var connectivity: Connectivity
  /// Whether the peer is where a check has come from, as long as that is not known.
  var pathCheck: PathCheck?
  /// Its TCP connections.
  var connections: Set<TransportAddress> = []
  var dtls: DTLSSession?
  var sender: SRTPSender?
  var receiver: SRTPReceiver?
  var tracks: [Track] = []
  var subscriptions: [Subscription] = []
  var sources: [Source] = []
  var feedback = FeedbackRecorder()
  /// Of the next packet to it that carries one.
  var transportSequence: UInt16 = 0
  /// In reports of the router's own, where no subscription lends one.
  let reporterSSRC: UInt32
  @exclusivity(unchecked) var path = PathEstimate()
  var allocator = LayerAllocator()
  /// Bits a second of video that the peer is asked to send at most; nil where it was never asked.
  var cap: UInt64?
  /// Of media that go to it, each packet once.
  @exclusivity(unchecked) var rate = RateMeter()
  /// Holds bursts of video back.
  @exclusivity(unchecked) var pacer = Pacer()
  /// What it asked for again.
  var repairs = RepairQueue()

  init(_ id: TransportID, _ parameters: TransportParameters, now: MediaTime, reporterSSRC: UInt32) {
    self.id = id
    self.parameters = parameters
    self.reporterSSRC = reporterSSRC
    let first = Connectivity.Generation(
      parameters.local, remoteUfrag: parameters.remoteUfrag, remotePassword: parameters.remotePassword)
    connectivity = Connectivity(first, now: now)
  }

  var isConnected: Bool { sender != nil }
  /// Any of its videos does not rest.
  var sendsVideo: Bool { subscriptions.contains { $0.track.parameters.codec.isVideo && $0.layer != nil } }

  /// Whether so many bytes may be sent again now; they count as sent.
  func mayResend(_ bytes: Int, now: MediaTime) -> Bool {
    let (carried, spare) = path.room(sent: rate.bitsPerSecond(now: now), now: now)
    return repairs.budget.take(bytes, rate: carried, spare: spare, now: now)
  }

  func source(_ ssrc: UInt32) -> Source? { sources.first { $0.ssrc == ssrc } }

  func subscription(ssrc: UInt32) -> Subscription? {
    subscriptions.first { $0.parameters.ssrc == ssrc || $0.parameters.rtxSSRC == ssrc }
  }
}
