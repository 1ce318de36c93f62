import MediaRouter
import Synchronization

/// The workers, for objects that are created before them.
final class LateWorkers: Sendable {
  let workers = Mutex<MediaWorkers?>(nil)

  /// Asks for key frames.
  func refresh(_ tracks: [SubscriptionID]) {
    workers.withLock { $0 }?.refresh(tracks)
  }
}
