import EventLoop
import HTTPServer
import MatrixModel
import Synchronization

/// Token buckets by user or address and kind of request.
///
/// Spec: Client-Server API, "Rate limiting".
package final class RateLimiter: Sendable {
  /// An allowance: `burst` requests at once, `perSecond` from then on.
  package enum Budget: UInt8, Sendable, CaseIterable {
    /// Long polls and what costs a look into memory: held by nothing.
    case free
    /// What only reads.
    case read
    /// What commits to disk.
    case write
    /// Logging in, registering, passwords: each costs a hash of tens of milliseconds.
    case authentication
    /// A sync from the beginning, with all state, or of much that was told before: milliseconds for each room. Also what looks at
    /// each event of a long history.
    case initialSync
    /// Reports, which people read.
    case report

    package init(of endpoint: Endpoint) {
      self = endpoint.method == .get ? .read : .write
    }

    var burst: Double {
      switch self {
      case .free: .infinity
      case .read: 500
      case .write: 200
      case .authentication: 30
      case .initialSync: 100
      case .report: 20
      }
    }

    var perSecond: Double {
      switch self {
      case .free: .infinity
      case .read: 100
      case .write: 30
      case .authentication: 1
      case .initialSync: 1
      case .report: 0.1
      }
    }
  }

  private enum Owner: Hashable {
    case user(UserID)
    case address(UInt64)
  }

  private struct Key: Hashable {
    let owner: Owner
    let budget: Budget
  }

  private struct Bucket {
    var tokens: Double
    var filledAt: UInt64
  }

  /// Buckets kept at once; beyond it, those that have filled up again are forgotten.
  private static let bucketsLimit = 50_000

  private let buckets = Mutex<[Key: Bucket]>([:])
  private let now: @Sendable () -> UInt64

  /// - Parameter now: monotonic nanoseconds.
  package init(now: @escaping @Sendable () -> UInt64 = { EventLoop.nowNanoseconds }) {
    self.now = now
  }

  /// Takes one request, or the `share` of one that it costs, from the user's budget. Throws `M_LIMIT_EXCEEDED` with the time
  /// until so much is there.
  ///
  /// - Parameter share: above 0, at most 1.
  package func charge(_ budget: Budget, share: Double = 1, to user: UserID) throws(MatrixError) {
    if budget != .free { try charge(Key(owner: .user(user), budget: budget), share) }
  }

  /// Takes one request from the budget of an address.
  package func charge(_ budget: Budget, to peer: SocketAddress) throws(MatrixError) {
    if budget != .free { try charge(Key(owner: .address(peer.network), budget: budget)) }
  }

  private func charge(_ key: Key, _ share: Double = 1) throws(MatrixError) {
    let now = now()
    let waitSeconds = buckets.withLock { buckets -> Double? in
      if buckets.count >= Self.bucketsLimit { Self.forgetFull(&buckets, now) }
      var bucket = buckets[key] ?? Bucket(tokens: key.budget.burst, filledAt: now)
      Self.fill(&bucket, key.budget, now)
      let isAllowed = bucket.tokens >= share
      if isAllowed { bucket.tokens -= share }
      buckets[key] = bucket
      return isAllowed ? nil : (share - bucket.tokens) / key.budget.perSecond
    }
    if let waitSeconds { throw .limitExceeded(retryAfterMilliseconds: Int64((waitSeconds * 1_000).rounded(.up))) }
  }

  private static func fill(_ bucket: inout Bucket, _ budget: Budget, _ now: UInt64) {
    let seconds = Double(now &- bucket.filledAt) / 1e9
    bucket.tokens = min(budget.burst, bucket.tokens + seconds * budget.perSecond)
    bucket.filledAt = now
  }

  /// A full bucket is as good as none. Where an attack has left only others, all go: the limit on memory comes first.
  private static func forgetFull(_ buckets: inout [Key: Bucket], _ now: UInt64) {
    buckets = buckets.filter { key, bucket in
      var bucket = bucket
      fill(&bucket, key.budget, now)
      return bucket.tokens < key.budget.burst
    }
    if buckets.count >= bucketsLimit { buckets = [:] }
  }
}
