/// One audio or video that a publisher sends, to this worker or to another one, which hands it on.
final class Track {
  /// A layer that stays so far behind another one the publisher leaves out. They carry the same pictures, however few these are.
  static let silenceLimit = MediaTime.Interval.milliseconds(400)

  let id: TrackID
  let parameters: TrackParameters
  /// Its publisher's; nil where that is another worker's.
  unowned let transport: Transport?
  /// The worker that hands it on; nil where its publisher is here.
  let worker: WorkerID?
  let layers: [Layer]
  let isScalable: Bool
  var subscriptions: [Subscription] = []
  var isMuted = false
  var demand: Demand
  var hasStarted = false
  /// Of any layer.
  var lastArrival: MediaTime?
  /// Waits for `ForwardingUnit.flush`.
  var isPending = false
  var pendingBytes = 0
  /// The workers that it is relayed to.
  var recipients: [Recipient] = []
  /// The layer that was asked for last of the worker that hands it on.
  var requested: Int?

  /// A worker that has subscribers of the track.
  struct Recipient {
    let worker: WorkerID
    /// nil for nothing as yet.
    var highestLayer: Int?
  }

  convenience init(_ id: TrackID, _ parameters: TrackParameters, on transport: Transport, _ limits: RouterLimits) {
    self.init(id, parameters, transport, nil, limits)
  }

  convenience init(_ id: TrackID, _ parameters: TrackParameters, from worker: WorkerID, _ limits: RouterLimits) {
    self.init(id, parameters, nil, worker, limits)
  }

  private init(
    _ id: TrackID, _ parameters: TrackParameters, _ transport: Transport?, _ worker: WorkerID?, _ limits: RouterLimits
  ) {
    self.id = id
    self.parameters = parameters
    self.transport = transport
    self.worker = worker
    isScalable = parameters.isScalable
    demand = Demand(all: parameters.highestLayer)
    layers = parameters.layers.prefix(TrackParameters.layersLimit).map {
      Layer($0, parameters.codec, cacheBytesLimit: limits.cacheBytes)
    }
  }

  /// The highest layer there can be, of scalable video the highest that is sent.
  var highestLayer: Int {
    isScalable ? (0...parameters.highestLayer).last { isAlive($0) } ?? 0 : parameters.highestLayer
  }

  /// Whether the publisher sends this layer.
  func isAlive(_ layer: Int) -> Bool {
    guard let last = isScalable ? layers[0].lastArrival(spatialLayer: layer) : layers[layer].lastArrival,
      let newest = lastArrival
    else { return false }
    return newest - last < Self.silenceLimit
  }

  /// Bits a second that a subscriber of this layer gets; nil if it is not sent.
  func rate(_ layer: Int, now: MediaTime) -> Int? {
    guard isAlive(layer) else { return nil }
    return isScalable ? layers[0].rate(upTo: layer, now: now) : layers[layer].rate(now: now)
  }

  /// The highest layer that a subscriber may get; nil where nobody gets anything. What their paths carry does not count: it may change, and how
  /// much a layer takes shows only while it is sent.
  var wanted: Int? { isMuted ? nil : asked }

  /// The same, also while it is muted.
  private var asked: Int? {
    let here = subscriptions.lazy.filter { !$0.isPaused }.map { [parameters] in
      max(0, min($0.limit.spatial, parameters.highestLayer))
    }.max()
    return [here, recipients.lazy.compactMap(\.highestLayer).max()].compactMap(\.self).max()
  }

  /// What this worker needs of the one that relays it: that one knows what is muted, and who is heard here is needed although nobody gets it.
  var needed: Int? { parameters.session != nil && !parameters.codec.isVideo ? 0 : asked }

  /// Somebody gets it, here or at another worker.
  var isWatched: Bool { !subscriptions.isEmpty || !recipients.isEmpty }

  /// Ticks between two captures, by the clock that the publisher's reports share; nil where a layer has reported nothing yet. Negative where
  /// the second was captured first.
  func ticks(from first: UInt32, of layer: Int, to second: UInt32, of other: Int) -> Int64? {
    guard layer != other else { return Int64(Int32(bitPattern: second &- first)) }
    guard let before = layers[layer].lastSenderReport, let after = layers[other].lastSenderReport else { return nil }
    let seconds = Double(Int64(bitPattern: after.ntpTime &- before.ntpTime)) / 4_294_967_296
    let sinceReports = Int64(Int32(bitPattern: second &- after.rtpTime)) - Int64(Int32(bitPattern: first &- before.rtpTime))
    return Int64(seconds * Double(parameters.codec.clockRate)) + sinceReports
  }

  /// Whether there may be something to ask the publisher for.
  var needsRepair: Bool { layers.contains { !$0.losses.isQuiet || $0.keyFrames.isWanted } }

  /// The layer that a RID names; the only one where there are none.
  func layer(rid: [UInt8]) -> Int? { layers.count == 1 && layers[0].rid.isEmpty ? 0 : layers.firstIndex { $0.rid == rid } }
}
