/// When what is done regularly was done last.
struct ForwardingTimers {
  static let reportInterval = MediaTime.Interval.seconds(1)

  var last: MediaTime?
  var lastRelease: MediaTime?
  var lastFeedback: MediaTime?
  var lastReport: MediaTime?
  var lastAllocation: MediaTime?
  var lastDecision: MediaTime?

  /// Whether the interval has passed since, and then notes the time.
  static func isDue(_ last: inout MediaTime?, _ interval: MediaTime.Interval, now: MediaTime) -> Bool {
    if let before = last, now - before < interval { return false }
    last = now
    return true
  }
}

extension ForwardingUnit {
  /// When `advance` wants to be called again; nil while there is nobody.
  var deadline: MediaTime? {
    guard !transports.isEmpty || !acceptedTracks.isEmpty else { return nil }
    let next = timers.last.map { $0 + Self.tick } ?? MediaTime(microseconds: 0)
    guard !pacedTransports.isEmpty else { return next }
    return timers.lastRelease.map { min(next, $0 + Pacer.step) } ?? MediaTime(microseconds: 0)
  }

  /// Does what is due by `now`, and sends. May be called at any time.
  func advance(to now: MediaTime) {
    releaseHeld(now: now)
    guard ForwardingTimers.isDue(&timers.last, Self.tick, now: now) else { return }
    let isFeedbackDue = ForwardingTimers.isDue(&timers.lastFeedback, FeedbackRecorder.interval, now: now)
    let isReportDue = ForwardingTimers.isDue(&timers.lastReport, ForwardingTimers.reportInterval, now: now)
    let isAllocationDue = ForwardingTimers.isDue(&timers.lastAllocation, Self.allocationInterval, now: now)
    for transport in transportsInOrder {
      repeatPathCheck(transport, now: now)
      guard transport.isConnected else {
        transport.dtls?.advance(to: now)
        sendHandshake(transport)
        advanceHandshake(transport)
        watch(transport, now: now)
        continue
      }
      requestRepairs(transport, now: now)
      sendRepairs(transport, now: now)
      sendPadding(transport, now: now)
      if isFeedbackDue { sendFeedback(transport, now: now) }
      if isAllocationDue {
        allocate(transport, now: now)
        for track in transport.tracks where track.demand.update(track.wanted, now: now) {
          events.append(.demand(track.id, track.demand.told))
        }
      }
      guard isReportDue else { continue }
      sendReports(transport, now: now)
      watch(transport, now: now)
    }
    for track in acceptedTracks where track.needsRepair { requestKeyFrames(of: track, now: now) }
    if ForwardingTimers.isDue(&timers.lastDecision, SpeakerDetector.interval, now: now) { decideSpeakers(now) }
    sendBatch()
  }

  private static let allocationInterval = MediaTime.Interval.milliseconds(200)

  /// Gives each video of a subscriber the layer that its path carries, in the order of subscription.
  private func allocate(_ transport: Transport, now: MediaTime) {
    let videos = transport.subscriptions.filter { $0.track.parameters.codec.isVideo }
    guard !videos.isEmpty else { return }
    let sound = transport.subscriptions.filter { !$0.track.parameters.codec.isVideo }
    let wishes = videos.map { video in
      LayerAllocator.Wish(
        rates: (0...video.track.highestLayer).map { video.track.rate($0, now: now) },
        ceiling: video.ceiling, current: video.allocated)
    }
    let sent = transport.rate.bitsPerSecond(now: now)
    transport.pacer.pace(
      carried: transport.path.sender?.known, coming: sent, picture: videos.lazy.compactMap(\.pictureBytes).max() ?? 0, now: now)
    let chosen = transport.allocator.allocate(
      wishes, transport.path.state(sent: sent, now: now),
      other: sound.reduce(0) { $0 + $1.track.layers[0].rate(now: now) }, now: now)
    if let wanted = transport.allocator.wanted { transport.path.sender?.want(wanted, sent: Double(sent), now: now) }
    for (video, layer) in zip(videos, chosen) where video.allocated != layer {
      video.allocated = layer
      events.append(.layer(video.id, layer))
    }
  }

  private func decideSpeakers(_ now: MediaTime) {
    for session in speakers.keys {
      if speakers[session]!.decide(now: now), let speaker = speakers[session]!.speaker {
        events.append(.speaker(session: session, speaker))
      }
    }
  }
}
