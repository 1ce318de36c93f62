import MediaRouter
import Synchronization

/// The worker, for whoever is made before it.
final class LateWorker: Sendable {
  let worker = Mutex<MediaWorker?>(nil)

  /// Asks for key frames.
  func refresh(_ tracks: [SubscriptionID]) {
    worker.withLock { $0 }?.submit(tracks.map { .refresh($0) })
  }
}
