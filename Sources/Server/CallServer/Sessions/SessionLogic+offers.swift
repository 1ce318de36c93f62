import JSON
import MediaRouter

/// How an offer is answered: one transport for each connection, sections for what it publishes and gets.
extension SessionLogic {
  /// The codecs of a publisher's picture, the preferred first.
  private static let videoCodecs: [Codec] = [.vp8, .h264, .vp9, .av1]

  /// Does what the sections of an offer are for, and gives the answer. A section for what is not there (any more), or that the peer could not
  /// decode, rests; one that is for something else than before, or for nothing, loses what it had.
  ///
  /// Throws `forbidden`, `invalid`, `too_large`, and `gone`, which ends the connection.
  mutating func answer(
    _ offer: Result<PeerOffer, CallRefusal>, _ purposes: [ByteString: CallRequest.Purpose], of id: ConnectionID
  ) throws(CallRefusal) -> String {
    guard isRouted else { throw .invalid("Media of this session goes between its peers: relay.") }
    guard let connection = connections[id] else { throw .noConnection }
    for purpose in purposes.values {
      let permission: Role.Permission = if case .publish = purpose { .publish } else { .subscribe }
      guard connection.role.allows(permission) else { throw .forbidden(connection.role) }
    }
    let offer = try offer.get()
    try transport(of: id, for: offer)
    forgetSections(of: id, butThoseKeptBy: offer, purposes)
    let choices = offer.media.map { media in
      media.map { choice($0, purposes[ByteString($0.mid)], of: id) } ?? .refuse
    }
    return written(offer, choices, of: id)
  }

  private mutating func written(_ offer: PeerOffer, _ choices: [PeerOffer.Choice], of id: ConnectionID) -> String {
    connections[id]?.peer?.version += 1
    guard let peer = connections[id]?.peer else { return "" }
    let media = workers[peer.worker]
    return offer.answer(
      choices, credentials: peer.credentials, fingerprint: media.fingerprint, candidates: media.candidates,
      number: peer.transport.number, version: peer.version, isDTLSClient: peer.isDTLSClient)
  }

  // MARK: Sections

  /// First of all, so that what one section had is free for another.
  private mutating func forgetSections(
    of id: ConnectionID, butThoseKeptBy offer: PeerOffer, _ purposes: [ByteString: CallRequest.Purpose]
  ) {
    let kept = offer.media.compactMap { media in
      media.flatMap { self.kept($0, purposes[ByteString($0.mid)], of: id) == nil ? nil : $0.mid }
    }
    for mid in connections[id]?.peer?.sections.keys.filter({ !kept.contains($0) }) ?? [] { forgetSection(mid, of: id) }
  }

  private mutating func forgetSection(_ mid: String, of id: ConnectionID) {
    guard let section = connections[id]?.peer?.sections.removeValue(forKey: mid) else { return }
    switch section.use {
    case .subscribe(_, let subscription): unsubscribe(subscription)
    case .publish(let stream, let track): unpublish(track, of: stream)
    }
  }

  private mutating func choice(
    _ media: MediaOffer, _ purpose: CallRequest.Purpose?, of id: ConnectionID
  ) -> PeerOffer.Choice {
    if let kept = kept(media, purpose, of: id) { return kept }
    switch purpose {
    case .publish(let stream): return publish(stream, media, of: id) ?? .rest
    case .subscribe(let stream): return subscribe(stream, media, of: id) ?? .rest
    case nil: return .rest
    }
  }

  /// What a section is for already, in the same format.
  private func kept(_ media: MediaOffer, _ purpose: CallRequest.Purpose?, of id: ConnectionID) -> PeerOffer.Choice? {
    guard let section = connections[id]?.peer?.sections[media.mid],
      let format = media.formats.first(where: {
        $0.payloadType == section.format.payloadType && $0.codec == section.format.codec
      })
    else { return nil }
    switch (section.use, purpose) {
    case (.publish(let stream, _), .publish(let wanted)) where stream == wanted && media.sends: return .receive(format)
    case (.subscribe(let stream, _), .subscribe(let wanted)) where stream == wanted && media.receives:
      return .send(
        format, ssrc: section.ssrc, rtxSSRC: section.rtxSSRC, stream: stream.string, track: Self.trackName(stream, media))
    default: return nil
    }
  }

  private static func trackName(_ stream: StreamID, _ media: MediaOffer) -> String {
    "\(stream)-\(media.isAudio ? "audio" : "video")"
  }

  private mutating func publish(_ name: StreamID, _ media: MediaOffer, of id: ConnectionID) -> PeerOffer.Choice? {
    guard let stream = streams[name], stream.connection == id, media.sends, stream.track(isAudio: media.isAudio) == nil,
      let peer = connections[id]?.peer,
      let codec = (media.isAudio ? [.opus] : Self.videoCodecs).first(where: { media.format($0) != nil }),
      let format = media.format(codec), var parameters = media.trackParameters(format)
    else { return nil }
    parameters.session = session(at: peer.worker)
    let track = CallStream.Track(
      id: TrackID(nextNumber()), parameters: format.parameters, routed: parameters, workers: [peer.worker])
    tracks[track.id] = name
    streams[name]?.keep(track)
    connections[id]?.peer?.sections[media.mid] = PeerState.Section(use: .publish(name, track.id), format: format)
    tell([.publish(track.id, on: peer.transport, parameters)] + mutes(of: track, in: stream), on: peer.worker)
    // Who speaks is heard there.
    if media.isAudio { relay(track, of: name, to: workers.home) }
    record(track, of: name)
    return .receive(format)
  }

  /// Tracks are heard together on the session's home worker.
  private func session(at worker: WorkerID) -> UInt64? { worker == workers.home ? UInt64(number) : nil }

  private func mutes(of track: CallStream.Track, in stream: CallStream) -> [RouterCommand] {
    stream.has(track.codec) ? [] : [.mute(track.id, true)]
  }

  /// A worker gets a track that it does not have: from the one that has the publisher.
  private mutating func relay(_ track: CallStream.Track, of name: StreamID, to worker: WorkerID) {
    guard let stream = streams[name], let publisher = track.workers.first, !track.workers.contains(worker) else { return }
    var parameters = track.routed
    parameters.session = session(at: worker)
    tell([.accept(track.id, from: publisher, parameters)] + mutes(of: track, in: stream), on: worker)
    var relayed = track
    relayed.workers.append(worker)
    streams[name]?.keep(relayed)
  }

  /// The peer no longer sends one kind of a stream.
  private mutating func unpublish(_ id: TrackID, of name: StreamID) {
    guard tracks.removeValue(forKey: id) != nil, let track = streams[name]?.tracks.first(where: { $0.id == id }) else {
      return
    }
    endRecording(of: id)
    tell(.unpublish(id), ofTrack: track)
    let isAudio = !track.codec.isVideo
    if isAudio { streams[name]?.audio = nil } else { streams[name]?.video = nil }
    for (subscription, content) in subscriptions where content.stream == name && content.isAudio == isAudio {
      unsubscribe(subscription)
    }
  }

  private mutating func subscribe(_ name: StreamID, _ media: MediaOffer, of id: ConnectionID) -> PeerOffer.Choice? {
    guard let stream = streams[name], stream.isAnnounced, media.receives, let track = stream.track(isAudio: media.isAudio),
      let peer = connections[id]?.peer, let format = media.format(track.codec, like: track.parameters),
      !isSubscribed(id, to: name, isAudio: media.isAudio)
    else { return nil }
    let ssrc = freshSSRC(besides: peer)
    var rtxSSRC: UInt32?
    if format.rtxPayloadType != nil {
      repeat { rtxSSRC = freshSSRC(besides: peer) } while rtxSSRC == ssrc
    }
    let subscription = SubscriptionID(nextNumber())
    connections[id]?.peer?.sections[media.mid] = PeerState.Section(
      use: .subscribe(name, subscription), format: format, ssrc: ssrc, rtxSSRC: rtxSSRC)
    subscriptions[subscription] = CallSubscription(
      connection: id, worker: peer.worker, mid: media.mid, stream: name, isAudio: media.isAudio)
    relay(track, of: name, to: peer.worker)
    tell(
      .subscribe(
        subscription, to: track.id, on: peer.transport,
        media.subscriptionParameters(format, ssrc: ssrc, rtxSSRC: rtxSSRC)), on: peer.worker)
    if let preference = connections[id]?.preferences[name] { apply(preference, to: subscription) }
    return .send(format, ssrc: ssrc, rtxSSRC: rtxSSRC, stream: name.string, track: Self.trackName(name, media))
  }

  /// Once is enough; browsers refuse an answer in which a track stands twice.
  private func isSubscribed(_ id: ConnectionID, to stream: StreamID, isAudio: Bool) -> Bool {
    connections[id]?.peer?.sections.values.contains { section in
      guard case .subscribe(stream, let subscription) = section.use else { return false }
      return subscriptions[subscription]?.isAudio == isAudio
    } ?? false
  }

  /// Never one that the transport had in a living section.
  private mutating func freshSSRC(besides peer: PeerState) -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: random.next())
      if ssrc != 0, !peer.sections.values.contains(where: { $0.ssrc == ssrc || $0.rtxSSRC == ssrc }) { return ssrc }
    }
  }

  /// Takes a subscription away, and its section with it.
  mutating func unsubscribe(_ name: SubscriptionID) {
    guard let subscription = subscriptions.removeValue(forKey: name) else { return }
    tell(.unsubscribe(name), on: subscription.worker)
    if connections[subscription.connection]?.peer?.sections[subscription.mid]?.use == .subscribe(subscription.stream, name) {
      connections[subscription.connection]?.peer?.sections[subscription.mid] = nil
    }
  }
}
