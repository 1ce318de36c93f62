/// A tap: a subscription without a transport, whose packets are copied once and leave with the batch. Recordings are made of them.
extension ForwardingUnit {
  /// What taps got since the last call; nil for nothing.
  func takeTapped() -> TappedBatch? {
    guard !tapped.isEmpty else { return nil }
    defer { tapped = TappedBatch() }
    return tapped
  }

  func tap(
    _ packets: UnsafeBufferPointer<OutgoingPacket>, of track: Track, _ subscription: Subscription, _ now: MediaTime
  ) {
    let target = subscription.target(of: track)
    for packet in packets {
      guard let media = packet.media,
        let output = subscription.rewrite(media, of: packet.position, track, target: target, now: now)
      else { continue }
      let start = tapped.bytes.count
      tapped.bytes.append(contentsOf: packet.encoded(track.parameters.codec))
      tapped.packets.append(
        TappedBatch.Packet(
          subscription: subscription.id, sequence: output.index, timestamp: output.timestamp, marker: output.marker,
          startsFrame: media.payload.startsFrame, isKeyFrame: media.payload.isKeyFrame, arrival: media.arrival,
          media: start..<tapped.bytes.count))
    }
  }

  func tapReport(_ report: SenderReport, of source: Transport.Source, _ now: MediaTime) {
    for subscription in source.track.subscriptions where subscription.isTap && subscription.layer == source.layer {
      tapped.reports.append(
        TappedBatch.Report(
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
