/// The path of a media packet, from its publisher's datagram to those of its subscribers:
///
/// 1. `receiveMedia` opens the datagram in place (SRTP), and finds the track and layer of the packet.
/// 2. `receive` restores what was retransmitted, and describes the payload once for all subscribers.
/// 3. `keep` puts the packet into the cache of its layer. A packet that is there already ends here.
/// 4. `queue` adds its number to those that the track has to forward.
/// 5. `relay` copies it for other workers with subscribers of the track. There the path goes on at step 3.
/// 6. `flush`, called after each batch of datagrams, takes the tracks with queued packets.
/// 7. `forward` goes through the subscribers of a track, and rewrites each packet for each of them.
/// 8. `send` seals it into the `SendBatch` and remembers it for resends; `hold` delays it first where the pacer says so.
extension ForwardingUnit {
  /// Beyond it a track's packets are forwarded before the batch is read to its end: its cache must not run over them.
  private static let pendingBytesLimit = 24 << 10

  // MARK: In

  func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, from address: TransportAddress, _ now: MediaTime) {
    guard let transport = transport(heardAt: address), let receiver = transport.receiver, let count = receiver.open(datagram)
    else { return }
    noteActivity(of: transport, now: now)
    let packet = UnsafeRawBufferPointer(rebasing: datagram[..<count])
    let bytes = packet.bytes
    guard let header = RTPHeader(bytes), let source = transport.source(of: header, bytes, limits) else { return }
    let identifiers = source.track.parameters.extensions
    if identifiers.transportSequence != 0,
      let value = HeaderExtensions.value(identifiers.transportSequence, of: header, in: bytes), value.count == 2
    {
      transport.feedback.receive(bytes.uint16(at: value.lowerBound), now: now)
    }
    // Padding alone probes the path; it is nobody's media.
    guard !header.payload.isEmpty else { return notePadding(header, source, now) }
    receive(packet, header, source, now)
  }

  private func notePadding(_ header: RTPHeader, _ source: Transport.Source, _ now: MediaTime) {
    guard !source.isRetransmission else { return }
    let layer = source.track.layers[source.layer]
    let sequence = layer.unwrapper.unwrap(header.sequenceNumber)
    layer.losses.receive(sequence, now: now)
    layer.statistics.receive(sequence, timestamp: header.timestamp, now: now)
    // Its number is gone for subscribers too, without a gap.
    var packet = MediaPacket(
      sequence: sequence, timestamp: header.timestamp, marker: false, payloadCount: 0, arrival: now)
    packet.payload.temporalLayer = 0
    skip(packet, of: source.track, source.layer)
    relay(ArrivingPacket(packet, of: source.layer), of: source.track)
  }

  /// The number of padding is missed by nobody.
  func skip(_ packet: MediaPacket, of track: Track, _ position: Int) {
    for subscription in track.subscriptions where subscription.layer == position {
      subscription.rewriter.skip(packet, wholePicture: false)
    }
  }

  private func receive(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ source: Transport.Source, _ now: MediaTime
  ) {
    let track = source.track
    let layer = track.layers[source.layer]
    var number = header.sequenceNumber
    var payload = header.payload
    if source.isRetransmission {
      // RFC 4588 §4: the original number stands before the payload.
      guard payload.count > 2, layer.unwrapper.highest != nil else { return }
      number = packet.bytes.uint16(at: payload.lowerBound)
      payload = (payload.lowerBound + 2)..<payload.upperBound
    } else if header.payloadType != track.parameters.payloadType {
      return
    }
    let sequence = layer.unwrapper.unwrap(number)
    var kept = MediaPacket(
      sequence: sequence, timestamp: header.timestamp, marker: header.marker, payloadCount: payload.count, arrival: now)
    let descriptor = describe(&kept, packet.bytes, header, payload, track, layer) ?? 0..<0
    let arriving = ArrivingPacket(
      kept, of: source.layer, datagramBytes: packet.count, descriptor: UnsafeRawBufferPointer(rebasing: packet[descriptor]),
      payload: UnsafeRawBufferPointer(rebasing: packet[payload]))
    guard keep(arriving, of: track, now: now) else { return }
    layer.losses.receive(sequence, now: now)
    if !source.isRetransmission { layer.statistics.receive(sequence, timestamp: header.timestamp, now: now) }
    if !track.hasStarted {
      track.hasStarted = true
      events.append(.trackStarted(track.id))
    }
    relay(arriving, of: track)
  }

  /// Keeps a packet that was opened and described, here or at another worker, and queues it for `flush`; false for one that is there already.
  func keep(_ packet: ArrivingPacket, of track: Track, now: MediaTime) -> Bool {
    let (layer, media) = (track.layers[packet.position], packet.media)
    guard layer.cache.insert(media, descriptor: packet.descriptor, payload: packet.payload) else { return false }
    layer.receive(
      packet.datagramBytes, spatialLayer: media.payload.spatialLayer, timestamp: media.timestamp, now: now)
    track.lastArrival = now
    if media.payload.isKeyFrame { layer.keyFrames.satisfy() }
    if let level = media.audioLevel, !track.isMuted, let session = track.parameters.session {
      speakers[session, default: SpeakerDetector()].receive(track.id, level: level & 0x7F, now: now)
    }
    queue(media, track, layer, now)
    return true
  }

  /// Fills in what the packet says about itself; where its dependency descriptor lies.
  private func describe(
    _ kept: inout MediaPacket, _ packet: RawSpan, _ header: RTPHeader, _ payload: Range<Int>, _ track: Track, _ layer: Layer
  ) -> Range<Int>? {
    kept.payload = track.parameters.codec.describe(packet, payload)
    guard var elements = HeaderExtensions(header) else { return nil }
    let identifiers = track.parameters.extensions
    var found: Range<Int>?
    while let element = elements.next(in: packet) {
      guard !element.value.isEmpty else { continue }
      switch element.id {
      case identifiers.audioLevel: kept.audioLevel = packet.uint8(at: element.value.lowerBound)
      case identifiers.orientation: kept.orientation = packet.uint8(at: element.value.lowerBound)
      case identifiers.dependencyDescriptor where element.value.count <= PacketWriter.descriptorLimit:
        // Frames are numbered over all layers together: where one begins in the place of another they would seem to go back.
        if track.layers.count == 1 { (found, kept.descriptorCount) = (element.value, element.value.count) }
        guard track.parameters.codec == .av1,
          let descriptor = DependencyDescriptor(packet.extracting(element.value), structure: layer.structure)
        else { continue }
        if let structure = descriptor.newStructure { layer.structure = structure }
        kept.payload.startsFrame = descriptor.startsFrame
        kept.payload.isKeyFrame = descriptor.startsFrame && descriptor.newStructure != nil
        kept.payload.endsFrame = descriptor.endsFrame
        kept.payload.temporalLayer = descriptor.temporalLayer
        kept.payload.spatialLayer = descriptor.spatialLayer
        kept.payload.decodeTargets = descriptor.targets
      default: break
      }
    }
    return found
  }

  /// Where too much is queued, the track is forwarded at once.
  private func queue(_ packet: MediaPacket, _ track: Track, _ layer: Layer, _ now: MediaTime) {
    guard !track.subscriptions.isEmpty, !track.isMuted else { return }
    layer.pending.append(packet.sequence)
    track.pendingBytes += packet.payloadCount + packet.descriptorCount
    if !track.isPending {
      track.isPending = true
      pendingTracks.append(track)
    }
    let limit = min(Self.pendingBytesLimit, layer.cache.bytesCapacity / 2)
    if track.pendingBytes >= limit { forward(track, now) }
  }

  // MARK: Out

  /// Forwards what the datagrams since the last call brought, and sends. Call it after each batch read.
  func flush(now: MediaTime) {
    for track in pendingTracks {
      forward(track, now)
      track.isPending = false
    }
    pendingTracks.removeAll(keepingCapacity: true)
    sendBatch()
  }

  /// Subscriber by subscriber, so that the packets of a frame stand side by side in the batch.
  private func forward(_ track: Track, _ now: MediaTime) {
    for (position, layer) in track.layers.enumerated() {
      for sequence in layer.pending {
        guard let packet = layer.cache.find(sequence) else { continue }
        outgoing.append(OutgoingPacket(packet, of: position, in: layer.cache))
      }
      layer.pending.removeAll(keepingCapacity: true)
    }
    track.pendingBytes = 0
    // Nothing below touches the array, and no packet comes meanwhile.
    outgoing.withUnsafeBufferPointer { packets in
      for subscription in track.subscriptions { forward(packets, of: track, to: subscription, now) }
    }
    outgoing.removeAll(keepingCapacity: true)
  }

  private func forward(
    _ packets: UnsafeBufferPointer<OutgoingPacket>, of track: Track, to subscription: Subscription, _ now: MediaTime
  ) {
    guard let transport = subscription.transport else { return tap(packets, of: track, subscription, now) }
    guard let destination = Destination(transport) else { return }
    // What goes to one subscriber stays in one message.
    if !batch.hasRoom(for: packets.count) { sendBatch() }
    let target = subscription.target(of: track)
    // Sound never waits.
    let isPaced = transport.pacer.begin(now) && track.parameters.codec.isVideo
    for packet in packets {
      guard let media = packet.media,
        let output = subscription.rewrite(media, of: packet.position, track, target: target, now: now)
      else { continue }
      if isPaced, transport.pacer.mustWait {
        hold(media, of: packet.position, as: output, subscription, to: destination, now: now)
      } else if let bytes = send(packet, media, as: output, of: subscription, to: destination, now: now) {
        transport.rate.add(bytes, now: now)
      }
    }
  }

  /// Sends a packet for the first time, and remembers it for those that lose it. Its bytes, sealed; nil for one that is too large to be sent on.
  func send(
    _ packet: OutgoingPacket, _ media: MediaPacket, as output: StreamRewriter.Output, of subscription: Subscription,
    to destination: Destination, now: MediaTime
  ) -> Int? {
    guard let bytes = send(packet, as: output, of: subscription, to: destination, now: now) else { return nil }
    destination.transport.pacer.spend(bytes)
    guard subscription.canResend else { return bytes }
    subscription.history.insert(
      SentHistory.Entry(output: output, source: media.sequence, layer: UInt8(packet.position), lastSent: now))
    return bytes
  }
}
