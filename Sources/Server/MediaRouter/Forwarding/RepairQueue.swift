/// What a peer asked for again and its path had no room for yet, in the order in which it was asked for.
struct RepairQueue {
  struct Request {
    let subscription: Subscription
    /// In the history of the subscription.
    let index: UInt64
    let asked: MediaTime
  }

  static let requestsLimit = 512
  /// Later a receiver has asked anew, or given up.
  static let patience = MediaTime.Interval.milliseconds(500)

  private var requests: [Request] = []
  /// Those before it are done.
  private var next = 0
  var budget = ResendBudget()

  var first: Request? { next < requests.count ? requests[next] : nil }
  var isFull: Bool { requests.count - next >= Self.requestsLimit }

  mutating func append(_ request: Request) { requests.append(request) }

  mutating func removeFirst() {
    next += 1
    guard next == requests.count || next >= Self.requestsLimit else { return }
    requests.removeFirst(next)
    next = 0
  }

  /// Forgets what was asked of a subscription that ends.
  mutating func remove(_ subscription: Subscription) {
    requests.removeSubrange(..<next)
    next = 0
    requests.removeAll { $0.subscription === subscription }
  }
}
