/// What goes to recorders: a subscription without a transport, whose packets are copied once and leave with the batch.
extension ForwardingUnit {
  /// What recorders got since the last call; nil for nothing.
  func takeRecorded() -> RecordedBatch? {
    guard !recorded.isEmpty else { return nil }
    defer { recorded = RecordedBatch() }
    return recorded
  }

  func record(
    _ packets: UnsafeBufferPointer<OutgoingPacket>, of track: Track, _ subscription: Subscription, _ now: MediaTime
  ) {
    let target = subscription.target(of: track)
    for packet in packets {
      guard let media = packet.media,
        let output = subscription.rewrite(media, of: packet.position, track, target: target, now: now)
      else { continue }
      let start = recorded.bytes.count
      recorded.bytes.append(contentsOf: packet.encoded(track.parameters.codec))
      recorded.packets.append(
        RecordedBatch.Packet(
          subscription: subscription.id, sequence: output.index, timestamp: output.timestamp, marker: output.marker,
          startsFrame: media.payload.startsFrame, isKeyFrame: media.payload.isKeyFrame, arrival: media.arrival,
          media: start..<recorded.bytes.count))
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

extension OutgoingPacket {
  /// What the encoder wrote; nothing where the descriptor before it could not be read.
  fileprivate func encoded(_ codec: Codec) -> Slice<UnsafeRawBufferPointer> {
    let descriptorBytes = media.map { Int($0.payload.descriptorBytes) } ?? 0
    let isUnread = descriptorBytes == 0 && (codec == .vp8 || codec == .vp9)
    return payload.dropFirst(isUnread ? .max : descriptorBytes)
  }
}
