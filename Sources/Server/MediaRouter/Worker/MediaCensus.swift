import Synchronization

/// What a worker's forwarding unit holds, for measurements, from any thread.
package final class MediaCensus: Sendable {
  private let transportCount = Atomic<Int>(0)
  private let trackCount = Atomic<Int>(0)
  private let subscriptionCount = Atomic<Int>(0)

  package var transports: Int { transportCount.load(ordering: .relaxed) }
  /// What is published.
  package var tracks: Int { trackCount.load(ordering: .relaxed) }
  package var subscriptions: Int { subscriptionCount.load(ordering: .relaxed) }

  func note(_ counts: RouterCounts) {
    transportCount.store(counts.transports, ordering: .relaxed)
    trackCount.store(counts.tracks, ordering: .relaxed)
    subscriptionCount.store(counts.subscriptions, ordering: .relaxed)
  }
}
