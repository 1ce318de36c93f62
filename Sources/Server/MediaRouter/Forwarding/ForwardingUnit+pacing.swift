/// Video that leaves a little later, so that it does not leave as one burst.
extension ForwardingUnit {
  /// Takes a packet that has to wait; where too many wait already, all go at once.
  func hold(
    _ media: MediaPacket, of position: Int, as output: StreamRewriter.Output, _ subscription: Subscription,
    to destination: Destination, now: MediaTime
  ) {
    let transport = destination.transport
    if transport.pacer.isEmpty { pacedTransports.append(transport) }
    transport.pacer.hold(
      Pacer.Held(subscription: subscription, output: output, sequence: media.sequence, position: position))
    // It has come for this path, whenever it goes.
    transport.rate.add(media.payloadCount, now: now)
    if transport.pacer.isFull { release(transport, isForced: true, now: now) }
  }

  /// Sends what has room by now.
  func releaseHeld(now: MediaTime) {
    guard !pacedTransports.isEmpty, ForwardingTimers.isDue(&timers.lastRelease, Pacer.step, now: now) else { return }
    for transport in pacedTransports { release(transport, isForced: !transport.pacer.begin(now), now: now) }
    pacedTransports.removeAll { $0.pacer.isEmpty }
    sendBatch()
  }

  private func release(_ transport: Transport, isForced: Bool, now: MediaTime) {
    let destination = Destination(transport)
    while let held = transport.pacer.take(isForced: isForced) {
      let (subscription, cache) = (held.subscription, held.subscription.track.layers[held.position].cache)
      // Without a path, or run over in its cache, it is lost.
      guard let destination, let media = cache.find(held.sequence) else { continue }
      _ = send(
        OutgoingPacket(media, of: held.position, in: cache), media, as: held.output, of: subscription, to: destination, now: now
      )
    }
  }
}
