/// When what is done regularly was done last.
struct RouterTimers {
  static let reportInterval = MediaTime.Interval.seconds(1)

  var last: MediaTime?
  var lastFeedback: MediaTime?
  var lastReport: MediaTime?

  /// Whether the interval has passed since, and then notes the time.
  static func isDue(_ last: inout MediaTime?, _ interval: MediaTime.Interval, now: MediaTime) -> Bool {
    if let before = last, now - before < interval { return false }
    last = now
    return true
  }
}

extension Router {
  /// When `advance` wants to be called again; nil while there is nobody.
  var deadline: MediaTime? { transports.isEmpty ? nil : timers.last.map { $0 + Self.tick } ?? MediaTime(microseconds: 0) }

  /// Does what is due by `now`, and sends. May be called at any time.
  func advance(to now: MediaTime) {
    guard RouterTimers.isDue(&timers.last, Self.tick, now: now) else { return }
    let isFeedbackDue = RouterTimers.isDue(&timers.lastFeedback, FeedbackRecorder.interval, now: now)
    let isReportDue = RouterTimers.isDue(&timers.lastReport, RouterTimers.reportInterval, now: now)
    for transport in transports.values {
      guard transport.isConnected else {
        transport.dtls?.advance(to: now)
        sendHandshake(transport)
        advanceHandshake(transport)
        if now - transport.consent >= Transport.consentLimit { end(transport, .silence) }
        continue
      }
      requestRepairs(transport, now: now)
      if isFeedbackDue { sendFeedback(transport, now: now) }
      guard isReportDue else { continue }
      if now - transport.consent >= Transport.consentLimit {
        end(transport, .silence)
      } else {
        sendReports(transport, now: now)
      }
    }
    sendBatch()
  }
}
