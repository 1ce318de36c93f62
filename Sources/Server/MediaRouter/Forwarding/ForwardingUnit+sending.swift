/// A packet that leaves, and where its bytes lie: in the cache of its layer, until that takes the next one.
struct OutgoingPacket {
  /// nil for padding alone.
  let media: MediaPacket?
  /// Which of its track's layers it is of.
  let position: Int
  let descriptor: UnsafeRawBufferPointer
  let payload: UnsafeRawBufferPointer

  static var padding: OutgoingPacket { OutgoingPacket() }

  init(_ media: MediaPacket, of position: Int, in cache: PacketCache) {
    self.media = media
    self.position = position
    descriptor = cache.descriptor(of: media)
    payload = cache.payload(of: media)
  }

  private init() {
    media = nil
    position = 0
    (descriptor, payload) = (UnsafeRawBufferPointer(start: nil, count: 0), UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

/// Where packets go to one peer that is connected.
struct Destination {
  let transport: Transport
  let sender: SRTPSender
  let address: TransportAddress

  init?(_ transport: Transport) {
    guard let sender = transport.sender, let address = transport.address else { return nil }
    self.transport = transport
    self.sender = sender
    self.address = address
  }
}

extension ForwardingUnit {
  /// Writes and seals a packet into the batch. Its bytes, sealed; nil for one that is too large to be sent on.
  func send(
    _ packet: OutgoingPacket, as output: StreamRewriter.Output, of subscription: Subscription, to destination: Destination,
    now: MediaTime
  ) -> Int? {
    let header = PacketWriter.Header(
      payloadType: subscription.parameters.payloadType, marker: output.marker, index: output.index,
      timestamp: output.timestamp, ssrc: subscription.parameters.ssrc)
    guard let bytes = write(packet, as: output, header, isRetransmission: false, subscription, destination, now) else {
      return nil
    }
    subscription.packetCount &+= 1
    subscription.octetCount &+= UInt32(packet.payload.count)
    return bytes
  }

  /// Sends what the peer asked for again, as far as its path has room: all of it at once would fill the queue in front of a narrow link.
  func sendRepairs(_ transport: Transport, now: MediaTime) {
    guard transport.repairs.first != nil, let destination = Destination(transport) else { return }
    while let request = transport.repairs.first {
      let subscription = request.subscription
      if now - request.asked < RepairQueue.patience, let entry = subscription.history.wanted(request.index),
        let media = subscription.track.layers[Int(entry.layer)].cache.find(entry.source)
      {
        guard transport.mayResend(media.payloadCount, now: now) else { return }
        subscription.history.resent(request.index, now: now)
        resend(entry, media, subscription, to: destination, now: now)
      } else {
        subscription.history.forgo(request.index)
      }
      transport.repairs.removeFirst()
    }
  }

  /// As RTX, or with the bytes it had. RFC 4588 §4.
  private func resend(
    _ entry: SentHistory.Entry, _ media: MediaPacket, _ subscription: Subscription, to destination: Destination, now: MediaTime
  ) {
    let packet = OutgoingPacket(media, of: Int(entry.layer), in: subscription.track.layers[Int(entry.layer)].cache)
    guard let header = retransmissionHeader(subscription, entry.output) else {
      _ = send(packet, as: entry.output, of: subscription, to: destination, now: now)
      return
    }
    _ = write(packet, as: entry.output, header, isRetransmission: true, subscription, destination, now)
  }

  /// Sends as much padding as the probing of the path wants, on the repair stream of a video: there its numbers are missed by nobody.
  func sendPadding(_ transport: Transport, now: MediaTime) {
    guard transport.path.sender != nil, let destination = Destination(transport),
      let subscription = transport.subscriptions.first(where: \.canProbe)
    else { return }
    let bytes = PathProbe.paddingBytes + RTPHeader.fixedBytes + 16 + destination.sender.profile.tagBytes
    for _ in 0..<transport.path.sender!.takePadding(packetBytes: bytes, now: now) {
      var output = subscription.rewriter.last
      output.marker = false
      guard let header = retransmissionHeader(subscription, output) else { return }
      _ = write(.padding, as: output, header, isRetransmission: true, subscription, destination, now)
    }
  }

  /// nil where there is no RTX.
  private func retransmissionHeader(_ subscription: Subscription, _ output: StreamRewriter.Output) -> PacketWriter.Header? {
    guard let ssrc = subscription.parameters.rtxSSRC, let payloadType = subscription.parameters.rtxPayloadType else {
      return nil
    }
    subscription.rtxIndex += 1
    return PacketWriter.Header(
      payloadType: payloadType, marker: output.marker, index: subscription.rtxIndex, timestamp: output.timestamp, ssrc: ssrc)
  }

  /// Its bytes, sealed; nil if it is too large.
  private func write(
    _ packet: OutgoingPacket, as output: StreamRewriter.Output, _ header: PacketWriter.Header, isRetransmission: Bool,
    _ subscription: Subscription, _ destination: Destination, _ now: MediaTime
  ) -> Int? {
    makeRoom()
    let target = batch.space
    let (transport, sender) = (destination.transport, destination.sender)
    let number = transport.transportSequence
    let start = subscription.writer.write(header, of: packet, transportSequence: number, now: now, to: target)
    guard
      let count = writePayload(
        of: packet, as: output, isRetransmission, at: target, start,
        limit: SendBatch.datagramLimit - sender.profile.tagBytes)
    else { return nil }
    let sealed = sender.seal(target, header: start, count: start + count, ssrc: header.ssrc, index: header.index)
    batch.commit(sealed, to: destination.address)
    guard subscription.parameters.extensions.transportSequence != 0 else { return sealed }
    transport.transportSequence &+= 1
    transport.path.sender?.send(number, bytes: sealed, isMedia: !isRetransmission, now: now)
    return sealed
  }

  private func writePayload(
    of packet: OutgoingPacket, as output: StreamRewriter.Output, _ isRetransmission: Bool, at target: UnsafeMutableRawPointer,
    _ start: Int, limit: Int
  ) -> Int? {
    guard let media = packet.media else {
      target.storeBytes(of: target.load(as: UInt8.self) | 0x20, as: UInt8.self)
      UnsafeMutableRawBufferPointer(start: target + start, count: PathProbe.paddingBytes).initializeMemory(
        as: UInt8.self, repeating: 0)
      target.storeBytes(of: UInt8(PathProbe.paddingBytes), toByteOffset: start + PathProbe.paddingBytes - 1, as: UInt8.self)
      return PathProbe.paddingBytes
    }
    // The number it had stands before it. RFC 4588 §4.
    let prefix = isRetransmission ? 2 : 0
    guard start + prefix + packet.payload.count <= limit else { return nil }
    if isRetransmission {
      let number = UInt16(truncatingIfNeeded: output.index)
      target.storeBytes(of: number.bigEndian, toByteOffset: start, as: UInt16.self)
    }
    let copy = UnsafeMutableRawBufferPointer(start: target + start + prefix, count: packet.payload.count)
    copy.copyMemory(from: packet.payload)
    media.payload.rewrite(copy, output)
    return prefix + packet.payload.count
  }
}
