import EventLoop
import ObjectStore
import Synchronization

/// What is on its way from the bucket: one fetch for each content, however many want it. It goes on when they have gone.
final class ObjectFetches: Sendable {
  private struct Running {
    let fetch: ObjectFetch
    let task: Task<Void, Never>
  }

  private let bucket: Bucket
  private let cache: MediaCache
  private let folder: MediaFolder
  private let files: BlockingPool
  /// By hash.
  private let running = Mutex<[String: Running]>([:])

  init(_ bucket: Bucket, _ cache: MediaCache, _ folder: MediaFolder, _ files: BlockingPool) {
    (self.bucket, self.cache, self.folder, self.files) = (bucket, cache, folder, files)
  }

  /// The fetch that is under way; nil if there is none.
  func current(_ hash: String) -> ObjectFetch? { running.withLock { $0[hash]?.fetch } }

  /// The fetch of content, which begins if there is none.
  func fetch(_ hash: String, bytes: Int64) async throws -> ObjectFetch {
    if let current = current(hash) { return current }
    let fetch = try await files.run { [folder, files] in try ObjectFetch(hash, bytes: bytes, into: folder, files: files) }
    return running.withLock { running in
      if let other = running[hash] { return other.fetch }
      running[hash] = Running(fetch: fetch, task: Task { [self] in await run(fetch, hash, bytes) })
      return fetch
    }
  }

  private func run(_ fetch: ObjectFetch, _ hash: String, _ bytes: Int64) async {
    await fetch.run(from: bucket, BucketStore.key(hash))
    running.withLock { $0[hash] = nil }
    try? await files.run { [cache] in cache.added(bytes: bytes) }
  }

  /// Ends all fetches.
  func shutdown() async {
    let tasks = running.withLock { running in running.values.map(\.task) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
