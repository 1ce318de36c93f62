import MatrixModel
import ServerCore
import Synchronization

/// What is kept in memory for ten minutes and taken once. Beyond `countLimit` the oldest of the network with most of them goes:
/// nobody keeps the others out.
final class ExpiringStore<Value: Sendable>: Sendable {
  static var lifetimeMilliseconds: Int64 { 10 * 60_000 }
  static var countLimit: Int { 10_000 }

  private let values = Mutex(SharedPlaces<String, (value: Value, at: Int64)>(limit: countLimit))
  private let clock: WallClock

  init(clock: WallClock) { self.clock = clock }

  func put(_ value: Value, at key: String, from network: UInt64) {
    let now = clock.now()
    values.withLock { values in
      if values.isFull { values.removeAll { now - $0.at >= Self.lifetimeMilliseconds } }
      values.put((value, now), at: key, from: network)
    }
  }

  /// nil for what is not there, was taken or has ended.
  func take(_ key: String) -> Value? {
    let now = clock.now()
    guard let kept = values.withLock({ $0.remove(key) }), now - kept.at < Self.lifetimeMilliseconds else { return nil }
    return kept.value
  }
}
