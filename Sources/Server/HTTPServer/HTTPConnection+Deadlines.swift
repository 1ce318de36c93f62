import EventLoop

extension HTTPConnection {
  private enum Expiry {
    case close
    case refuseHead
    case failBody
    case ping(WebSocketSession)
  }

  /// Makes sure the timer fires no later than the next deadline. It is not moved when deadlines move away, as they do with
  /// every request: it then finds nothing due and is set again.
  func updateDeadline() {
    guard let (deadline, _) = nextDeadline(), deadline < timerDeadline else { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = loop.schedule(atNanoseconds: deadline) { self.assumeIsolated { $0.timerFired() } }
  }

  private func timerFired() {
    timer = nil
    timerDeadline = .max
    if case .closed = mode { return }
    if let (deadline, expiry) = nextDeadline(), deadline <= EventLoop.nowNanoseconds {
      switch expiry {
      case .close: close()
      case .refuseHead: refuse(.requestTimeout)
      case .failBody:
        exchange?.keepsAlive = false
        failBody(.bodyTimeout)
      case .ping(let session): session.assumeIsolated { $0.pingIntervalPassed() }
      }
    }
    if case .closed = mode { return }
    updateDeadline()
  }

  /// The earliest deadline of what is under way, in nanoseconds; nil while only the handler is waited for.
  private func nextDeadline() -> (deadline: UInt64, expiry: Expiry)? {
    let timeouts = core.timeouts
    var next: (deadline: UInt64, expiry: Expiry)?
    switch mode {
    case .closed:
      return nil
    case .lingering:
      next = (Self.sum(phaseStarted, timeouts.linger), .close)
    case .webSocket(let session):
      next = (session.assumeIsolated { $0.pingDeadline(interval: timeouts.ping) }, .ping(session))
    case .http where hasPeerEnded:
      next = (Self.sum(phaseStarted, timeouts.linger), .close)
    case .http:
      next = httpDeadline(timeouts)
    }
    if !output.isEmpty || inFlightBytes > 0 {
      let stall = Self.sum(lastProgress, timeouts.writeStall)
      if next.map({ stall < $0.deadline }) ?? true { next = (stall, .close) }
    }
    return next
  }

  private func httpDeadline(_ timeouts: ServerCore.Timeouts) -> (deadline: UInt64, expiry: Expiry)? {
    switch logic.phase {
    case .idle:
      return (Self.sum(phaseStarted, timeouts.keepAlive), .close)
    case .head:
      return (Self.sum(phaseStarted, timeouts.header), .refuseHead)
    case .body:
      if exchange?.progress == .written { return (Self.sum(lastReceived, timeouts.bodyIdle), .close) }
      guard let pipe = exchange?.pipe, pipe.assumeIsolated({ $0.isReaderWaiting }) else { return nil }
      return (Self.sum(lastReceived, timeouts.bodyIdle), .failBody)
    case .answering, .over:
      return nil
    }
  }

  static func sum(_ start: UInt64, _ timeout: UInt64) -> UInt64 {
    let (sum, overflow) = start.addingReportingOverflow(timeout)
    return overflow ? .max - 1 : sum
  }
}
