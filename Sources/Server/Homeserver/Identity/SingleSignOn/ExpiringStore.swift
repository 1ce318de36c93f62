import MatrixModel
import Synchronization

/// What is kept in memory for ten minutes and taken once.
final class ExpiringStore<Value: Sendable>: Sendable {
  static var lifetimeMilliseconds: Int64 { 10 * 60_000 }
  static var countLimit: Int { 10_000 }

  private let values = Mutex<[String: (value: Value, at: Int64)]>([:])
  private let clock: WallClock

  init(clock: WallClock) { self.clock = clock }

  /// Throws `M_LIMIT_EXCEEDED` while `countLimit` others are kept.
  func put(_ value: Value, at key: String) throws(MatrixError) {
    let now = clock.now()
    let isKept = values.withLock { values in
      if values.count >= Self.countLimit { values = values.filter { now - $0.value.at < Self.lifetimeMilliseconds } }
      guard values.count < Self.countLimit else { return false }
      values[key] = (value, now)
      return true
    }
    guard isKept else { throw .limitExceeded(retryAfterMilliseconds: 60_000) }
  }

  /// nil for what is not there, was taken or has ended.
  func take(_ key: String) -> Value? {
    let now = clock.now()
    guard let kept = values.withLock({ $0.removeValue(forKey: key) }), now - kept.at < Self.lifetimeMilliseconds else {
      return nil
    }
    return kept.value
  }
}
