/// What goes to recorders: a subscription without a transport, whose packets are copied once and leave with the batch.
extension Router {
  /// What recorders got since the last call; nil for nothing.
  func takeRecorded() -> RecordedBatch? {
    guard !recorded.isEmpty else { return nil }
    defer { recorded = RecordedBatch() }
    return recorded
  }

  func record(_ track: Track, _ subscription: Subscription, _ now: MediaTime) {
    for (position, layer) in track.layers.enumerated() where !layer.pending.isEmpty {
      for sequence in layer.pending {
        guard let packet = layer.cache.find(sequence), let output = subscription.rewrite(packet, of: position, now: now)
        else { continue }
        let start = recorded.bytes.count
        recorded.bytes.append(contentsOf: layer.cache.media(of: packet, track.parameters.codec))
        recorded.packets.append(
          RecordedBatch.Packet(
            subscription: subscription.id, sequence: output.index, timestamp: output.timestamp, marker: output.marker,
            startsFrame: packet.payload.startsFrame, isKeyFrame: packet.payload.isKeyFrame, arrival: packet.arrival,
            media: start..<recorded.bytes.count))
      }
    }
  }

  func noteReport(_ report: SenderReport, of source: Transport.Source, _ now: MediaTime) {
    for subscription in source.track.subscriptions where subscription.isRecorder && subscription.layer == source.layer {
      recorded.reports.append(
        RecordedBatch.Report(
          subscription: subscription.id, ntpTime: report.ntpTime,
          timestamp: report.rtpTime &+ subscription.rewriter.timestampOffset))
    }
  }
}

extension PacketCache {
  /// What the encoder wrote; nothing where the descriptor before it could not be read.
  fileprivate func media(of packet: MediaPacket, _ codec: Codec) -> Slice<UnsafeRawBufferPointer> {
    let isUnread = packet.payload.descriptorBytes == 0 && (codec == .vp8 || codec == .vp9)
    return payload(of: packet).dropFirst(isUnread ? .max : Int(packet.payload.descriptorBytes))
  }
}
