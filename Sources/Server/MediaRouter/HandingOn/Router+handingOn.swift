/// Tracks that go over several workers: the one that has the publisher opens and describes each packet, and hands it on once to each other one that
/// asked for the track; there it is taken as if it had come through that one's own port.
extension Router {
  /// Gives each other worker what there is for it. `give` takes a batch and puts an empty one in its place.
  func handOn(_ give: (inout HandOff, WorkerID) -> Void) {
    for number in handOffs.indices where !handOffs[number].isEmpty { give(&handOffs[number], WorkerID(number)) }
  }

  // MARK: Where the publisher is

  func handOn(_ packet: ArrivingPacket, of track: Track) {
    guard !track.recipients.isEmpty, !track.isMuted else { return }
    for recipient in track.recipients where packet.position <= recipient.highestLayer ?? -1 {
      handOffs[recipient.worker.number].append(packet, of: track.id, isVideo: track.parameters.codec.isVideo)
    }
  }

  /// The clocks of layers are known also where their packets are not wanted.
  func handOn(_ report: SenderReport, of track: Track, _ position: Int) {
    for recipient in track.recipients {
      handOffs[recipient.worker.number].append(HandOff.Report(track: track.id, position: position, report: report))
    }
  }

  private func answer(_ request: HandOff.Request, of worker: WorkerID) {
    switch request {
    case .layers(let id, let highest): if let track = published(id) { handOn(track, to: worker, upTo: highest) }
    case .keyFrame(let id, let position):
      guard let track = published(id), track.layers.indices.contains(position) else { return }
      track.layers[position].keyFrames.want()
    case .end(let id): track(id)?.recipients.removeAll { $0.worker == worker }
    }
  }

  /// nil for one that is over, or another worker's.
  private func published(_ id: TrackID) -> Track? { track(id).flatMap { $0.worker == nil ? $0 : nil } }

  private func handOn(_ track: Track, to worker: WorkerID, upTo highest: Int?) {
    if let index = track.recipients.firstIndex(where: { $0.worker == worker }) {
      return track.recipients[index].highestLayer = highest
    }
    track.recipients.append(Track.Recipient(worker: worker, highestLayer: highest))
    prepareHandOff(to: worker)
    for (position, layer) in track.layers.enumerated() {
      guard let report = layer.lastSenderReport else { continue }
      handOffs[worker.number].append(HandOff.Report(track: track.id, position: position, report: report))
    }
  }

  private func prepareHandOff(to worker: WorkerID) {
    while handOffs.count <= worker.number { handOffs.append(HandOff()) }
  }

  // MARK: Where the subscribers are

  /// Takes what another worker handed on, and sends.
  func take(_ handOff: HandOff, from worker: WorkerID, now: MediaTime) {
    for request in handOff.requests { answer(request, of: worker) }
    for report in handOff.reports {
      accepted(report.track, report.position, from: worker)?.layers[report.position].lastSenderReport = report.report
    }
    handOff.forEachPacket { packet, id in
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

  func beginHandingOn(_ track: Track) {
    track.requested = track.needed
    request(.layers(track.id, upTo: track.needed), of: track)
  }

  func endHandingOn(_ track: Track) { request(.end(track.id), of: track) }

  /// Asks for other layers than before, if that is what the subscribers want now; at once, as each of them waits for it.
  func requestLayers(of track: Track) {
    guard track.worker != nil, case let needed = track.needed, needed != track.requested else { return }
    track.requested = needed
    request(.layers(track.id, upTo: needed), of: track)
  }

  /// The publisher's router asks for them, together with others.
  func requestKeyFrames(of track: Track, now: MediaTime) {
    for (position, layer) in track.layers.enumerated() where layer.keyFrames.take(now: now) {
      request(.keyFrame(track.id, layer: position), of: track)
    }
  }

  private func request(_ request: HandOff.Request, of track: Track) {
    guard let worker = track.worker else { return }
    prepareHandOff(to: worker)
    handOffs[worker.number].append(request)
  }
}
