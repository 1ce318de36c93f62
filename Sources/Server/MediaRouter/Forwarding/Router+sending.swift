/// A packet on its way to one subscriber.
struct OutgoingPacket {
  /// nil for padding alone.
  let media: MediaPacket?
  let layer: Layer
  let output: StreamRewriter.Output

  init(_ media: MediaPacket?, _ output: StreamRewriter.Output, of layer: Layer) {
    self.media = media
    self.layer = layer
    self.output = output
  }
}

extension Router {
  /// Writes and seals a packet into the batch; false for one that is too large to be sent on.
  func send(
    _ packet: OutgoingPacket, of subscription: Subscription, by sender: SRTPSender, to address: TransportAddress, now: MediaTime
  ) -> Bool {
    let parameters = subscription.parameters
    let header = PacketWriter.Header(
      payloadType: parameters.payloadType, marker: packet.output.marker, index: packet.output.index,
      timestamp: packet.output.timestamp, ssrc: parameters.ssrc)
    guard let count = write(packet, header, isRetransmission: false, subscription, sender, address, now) else { return false }
    subscription.packetCount &+= 1
    subscription.octetCount &+= UInt32(count)
    return true
  }

  /// Sends a packet again: as RTX, or with the bytes it had. RFC 4588 §4.
  func resend(_ entry: SentHistory.Entry, _ subscription: Subscription, now: MediaTime) {
    let layer = subscription.track.layers[Int(entry.layer)]
    guard let transport = subscription.transport, let sender = transport.sender, let address = transport.address,
      let media = layer.cache.find(entry.source),
      transport.mayResend(media.payloadCount, now: now)
    else { return }
    let packet = OutgoingPacket(media, entry.output, of: layer)
    guard let header = retransmissionHeader(subscription, entry.output) else {
      _ = send(packet, of: subscription, by: sender, to: address, now: now)
      return
    }
    _ = write(packet, header, isRetransmission: true, subscription, sender, address, now)
  }

  /// Sends as much padding as the probing of the path wants, on the repair stream of a video: there its numbers are missed by nobody.
  func sendPadding(_ transport: Transport, now: MediaTime) {
    guard transport.path.sender != nil, let sender = transport.sender, let address = transport.address,
      let subscription = transport.subscriptions.first(where: \.canProbe)
    else { return }
    let bytes = PathProbe.paddingBytes + RTPHeader.fixedBytes + 16 + sender.profile.tagBytes
    for _ in 0..<transport.path.sender!.takePadding(packetBytes: bytes, now: now) {
      var output = subscription.rewriter.last
      output.marker = false
      guard let header = retransmissionHeader(subscription, output) else { return }
      let packet = OutgoingPacket(nil, output, of: subscription.track.layers[0])
      _ = write(packet, header, isRetransmission: true, subscription, sender, address, now)
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

  /// The bytes of its payload; nil if it is too large.
  private func write(
    _ packet: OutgoingPacket, _ header: PacketWriter.Header, isRetransmission: Bool, _ subscription: Subscription,
    _ sender: SRTPSender, _ address: TransportAddress, _ now: MediaTime
  ) -> Int? {
    guard let transport = subscription.transport else { return nil }
    makeRoom()
    let target = batch.space
    let number = transport.transportSequence
    let start = subscription.writer.write(
      header, of: packet.media, descriptor: packet.media.map { packet.layer.cache.descriptor(of: $0) },
      transportSequence: number,
      now: now,
      to: target)
    guard
      let count = writePayload(
        of: packet, isRetransmission, at: target, start, limit: SendBatch.datagramLimit - sender.profile.tagBytes)
    else { return nil }
    let sealed = sender.seal(target, header: start, count: start + count, ssrc: header.ssrc, index: header.index)
    batch.commit(sealed, to: address)
    if packet.media != nil && !isRetransmission { transport.rate.add(sealed, now: now) }
    guard subscription.parameters.extensions.transportSequence != 0 else { return count }
    transport.transportSequence &+= 1
    transport.path.sender?.send(number, bytes: sealed, now: now)
    return count
  }

  private func writePayload(
    of packet: OutgoingPacket, _ isRetransmission: Bool, at target: UnsafeMutableRawPointer, _ start: Int, limit: Int
  ) -> Int? {
    guard let media = packet.media else {
      target.storeBytes(of: target.load(as: UInt8.self) | 0x20, as: UInt8.self)
      UnsafeMutableRawBufferPointer(start: target + start, count: PathProbe.paddingBytes).initializeMemory(
        as: UInt8.self, repeating: 0)
      target.storeBytes(of: UInt8(PathProbe.paddingBytes), toByteOffset: start + PathProbe.paddingBytes - 1, as: UInt8.self)
      return PathProbe.paddingBytes
    }
    let payload = packet.layer.cache.payload(of: media)
    // The number it had stands before it. RFC 4588 §4.
    let prefix = isRetransmission ? 2 : 0
    guard start + prefix + payload.count <= limit else { return nil }
    if isRetransmission {
      let number = UInt16(truncatingIfNeeded: packet.output.index)
      target.storeBytes(of: number.bigEndian, toByteOffset: start, as: UInt16.self)
    }
    let copy = UnsafeMutableRawBufferPointer(start: target + start + prefix, count: payload.count)
    copy.copyMemory(from: payload)
    media.payload.rewrite(copy, packet.output)
    return prefix + payload.count
  }
}
