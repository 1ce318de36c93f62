/// Tracks whose subscribers are at several workers. The publisher's worker opens and describes each packet, and relays it once to each other worker that
/// asked for the track. That worker takes the packet as if it had come through its own port.
extension ForwardingUnit {
  /// Gives each other worker the batch that waits for it. `give` takes it and puts an empty one in its place.
  func relay(by give: (inout RelayedBatch, WorkerID) -> Void) {
    for number in relayed.indices where !relayed[number].isEmpty { give(&relayed[number], WorkerID(number)) }
  }

  // MARK: Where the publisher is

  func relay(_ packet: ArrivingPacket, of track: Track) {
    guard !track.recipients.isEmpty, !track.isMuted else { return }
    for recipient in track.recipients where packet.position <= recipient.highestLayer ?? -1 {
      relayed[recipient.worker.number].append(packet, of: track.id, isVideo: track.parameters.codec.isVideo)
    }
  }

  /// The clocks of layers are known also where their packets are not wanted.
  func relay(_ report: SenderReport, of track: Track, _ position: Int) {
    for recipient in track.recipients {
      relayed[recipient.worker.number].append(RelayedBatch.Report(track: track.id, position: position, report: report))
    }
  }

  private func answer(_ request: RelayedBatch.Request, of worker: WorkerID) {
    switch request {
    case .layers(let id, let highest): if let track = published(id) { relay(track, to: worker, upTo: highest) }
    case .keyFrame(let id, let position):
      guard let track = published(id), track.layers.indices.contains(position) else { return }
      track.layers[position].keyFrames.want()
    case .end(let id): track(id)?.recipients.removeAll { $0.worker == worker }
    }
  }

  /// nil for one that is over, or another worker's.
  private func published(_ id: TrackID) -> Track? { track(id).flatMap { $0.worker == nil ? $0 : nil } }

  private func relay(_ track: Track, to worker: WorkerID, upTo highest: Int?) {
    if let index = track.recipients.firstIndex(where: { $0.worker == worker }) {
      return track.recipients[index].highestLayer = highest
    }
    track.recipients.append(Track.Recipient(worker: worker, highestLayer: highest))
    prepareBatch(to: worker)
    for (position, layer) in track.layers.enumerated() {
      guard let report = layer.lastSenderReport else { continue }
      relayed[worker.number].append(RelayedBatch.Report(track: track.id, position: position, report: report))
    }
  }

  private func prepareBatch(to worker: WorkerID) {
    while relayed.count <= worker.number { relayed.append(RelayedBatch()) }
  }

  // MARK: Where the subscribers are

  /// Takes what another worker relays, and sends.
  func take(_ batch: RelayedBatch, from worker: WorkerID, now: MediaTime) {
    for request in batch.requests { answer(request, of: worker) }
    for report in batch.reports {
      accepted(report.track, report.position, from: worker)?.layers[report.position].lastSenderReport = report.report
    }
    batch.forEachPacket { packet, id in
      // What comes after its track has ended is nobody's.
      guard let track = accepted(id, packet.position, from: worker) else { return }
      guard !packet.isPadding else { return skip(packet.media, of: track, packet.position) }
      readStructure(packet, of: track)
      _ = keep(packet, of: track, now: now)
    }
    flush(now: now)
  }

  private func accepted(_ id: TrackID, _ position: Int, from worker: WorkerID) -> Track? {
    track(id).flatMap { $0.worker == worker && position < $0.layers.count ? $0 : nil }
  }

  /// A key frame of AV1 brings what the descriptors after it are read by.
  private func readStructure(_ packet: ArrivingPacket, of track: Track) {
    guard track.parameters.codec == .av1, packet.media.payload.isKeyFrame,
      let structure = DependencyDescriptor(packet.descriptor.bytes, structure: nil)?.newStructure
    else { return }
    track.layers[packet.position].structure = structure
  }

  func beginRelay(of track: Track) {
    track.requested = track.needed
    request(.layers(track.id, upTo: track.needed), of: track)
  }

  func endRelay(of track: Track) { request(.end(track.id), of: track) }

  /// Asks for other layers than before, if that is what the subscribers want now; at once, as each of them waits for it.
  func requestLayers(of track: Track) {
    guard track.worker != nil, case let needed = track.needed, needed != track.requested else { return }
    track.requested = needed
    request(.layers(track.id, upTo: needed), of: track)
  }

  /// The publisher's worker asks for them, together with others.
  func requestKeyFrames(of track: Track, now: MediaTime) {
    for (position, layer) in track.layers.enumerated() where layer.keyFrames.take(now: now) {
      request(.keyFrame(track.id, layer: position), of: track)
    }
  }

  private func request(_ request: RelayedBatch.Request, of track: Track) {
    guard let worker = track.worker else { return }
    prepareBatch(to: worker)
    relayed[worker.number].append(request)
  }
}
