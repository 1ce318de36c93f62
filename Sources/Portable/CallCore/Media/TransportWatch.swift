/// When ICE is to be restarted.
struct TransportWatch: Sendable {
  /// Whether media could flow at some time.
  private(set) var wasConnected = false
  private(set) var isConnected = false
  private(set) var restartAt: Int64?

  mutating func changed(_ state: ICEState, now: Int64) {
    isConnected = state == .connected
    switch state {
    case .checking: break
    case .connected:
      wasConnected = true
      restartAt = nil
    case .disconnected: restartAt = earlier(restartAt, now + CallLimits.iceDisconnectedMilliseconds)
    case .failed: restartAt = earlier(restartAt, now + CallLimits.iceFailedMilliseconds)
    }
  }

  /// The other end says that nothing arrives any more.
  mutating func lost(now: Int64) {
    isConnected = false
    restartAt = now
  }

  /// Whether it is to be restarted now; then again after a while, until it is connected.
  mutating func isDue(now: Int64) -> Bool {
    guard let at = restartAt, at <= now else { return false }
    restartAt = now + CallLimits.iceRestartMilliseconds
    return true
  }
}
