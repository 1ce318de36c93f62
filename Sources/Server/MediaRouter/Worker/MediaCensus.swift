import Synchronization

/// What a worker's router holds, for whoever measures, from any thread.
package final class MediaCensus: Sendable {
  package let transports = Atomic<Int>(0)
  /// What is published.
  package let tracks = Atomic<Int>(0)
  package let subscriptions = Atomic<Int>(0)

  func note(_ counts: RouterCounts) {
    transports.store(counts.transports, ordering: .relaxed)
    tracks.store(counts.tracks, ordering: .relaxed)
    subscriptions.store(counts.subscriptions, ordering: .relaxed)
  }
}
