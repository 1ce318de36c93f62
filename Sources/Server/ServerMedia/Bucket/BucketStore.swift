import Database
import EventLoop
import MatrixModel
import ObjectStore
import ServerCore
import Synchronization
import Telemetry

/// Content as objects of a bucket, `media/ab/abcdef…`, with a folder of this machine as cache. Rows (`MediaObjects`) say what becomes of an object.
struct BucketStore: ContentStore {
  /// Reads the bucket; ends with the store.
  let fetches: ObjectFetches
  let bucket: Bucket
  let objects: MediaObjects
  let cache: MediaCache
  let folder: MediaFolder
  let files: BlockingPool
  let database: Database
  let log = Log("media")
  let counters: MediaCacheCounters
  /// By hash: one upload of the same content at a time, and one look for the same thumbnail.
  private let locks = KeyedLock()

  /// How often an upload begins anew that meets the removal of the same content.
  private static let roundsLimit = 3
  /// How often, and after how many milliseconds, an upload asks again whether a removal has ended.
  private static let removalLooks = 100
  private static let removalPauseMilliseconds = 100
  /// Bytes of a thumbnail.
  private static let thumbnailBytesLimit = 16 << 20

  init(
    _ bucket: Bucket, cacheBytes: Int64, _ folder: MediaFolder, files: BlockingPool, database: Database, clock: WallClock
  ) {
    self.bucket = bucket
    self.folder = folder
    self.files = files
    self.database = database
    objects = MediaObjects(clock: clock)
    let cache = MediaCache(folder, bytesLimit: cacheBytes)
    self.cache = cache
    counters = MediaCacheCounters(cache)
    fetches = ObjectFetches(bucket, cache, folder, files)
  }

  static func key(_ hash: String) -> String { "media/\(hash.prefix(2))/\(hash)" }

  static func thumbnailKeys(_ hash: String) -> String { "thumb/\(hash.prefix(2))/\(hash)-" }

  func shutdown() async {
    await fetches.shutdown()
    await bucket.shutdown()
  }

  // MARK: Uploading

  func keep(
    _ file: IncomingFile, as hash: String, naming name: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    try await locks.withLock(hash) {
      try await write(file, hash, name)
      // The content is safe: a disk that is full costs others a download.
      try? await files.run { try file.keep(as: hash) }
      let bytes = file.bytesCount
      try? await files.run { [cache] in cache.added(bytes: bytes) }
    }
  }

  private func write(
    _ file: IncomingFile, _ hash: String, _ name: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    for _ in 0..<Self.roundsLimit {
      if try await arrive(hash) { try await bucket.put(file.content, as: Self.key(hash), hash: hash) }
      do {
        return try await database.write { [objects] tx in
          try objects.name(hash, tx)
          try name(tx)
        }
      } catch is MediaObjects.Gone {}
    }
    throw BucketError.unavailable(reason: "the same content is being removed")
  }

  /// Whether the object has to be written. Waits while it is being removed.
  private func arrive(_ hash: String) async throws -> Bool {
    for _ in 0..<Self.removalLooks {
      switch try await database.write({ [objects] tx in try objects.arrive(hash, tx) }) {
      case .isThere: return false
      case .write: return true
      case .wait: try await Task.sleep(for: .milliseconds(Self.removalPauseMilliseconds))
      }
    }
    throw BucketError.unavailable(reason: "the same content is being removed")
  }

  // MARK: Downloading

  func content(_ hash: String, bytes: Int64) -> StoredContent {
    StoredContent(path: folder.path(of: hash), remote: RemoteContent(hash: hash, bytes: bytes, store: self))
  }

  func path(of hash: String, bytes: Int64) async throws -> String {
    let path = folder.path(of: hash)
    let isThere = try await files.run { [cache] in cache.has(path, bytes: bytes) }
    counters.count(isHit: isThere)
    if !isThere { try await fetches.fetch(hash, bytes: bytes).wait() }
    return path
  }

  // MARK: Thumbnails

  func thumbnail(of hash: String, _ variant: ThumbnailVariant) async throws -> StoredThumbnail? {
    let known = try await files.run { [cache, folder] in
      ThumbnailKind.allCases.lazy.map { StoredThumbnail(path: folder.thumbnailPath(of: hash, variant, $0), kind: $0) }
        .first { cache.use($0.path) }
    }
    counters.count(isHit: known != nil)
    if let known { return known }
    let key = Self.thumbnailKeys(hash) + "\(variant)"
    guard let found = try await bucket.get(key, limit: Self.thumbnailBytesLimit),
      let kind = ThumbnailKind.allCases.first(where: { $0.contentType.string == found.contentType })
    else { return nil }
    return try await cache(found.bytes, hash, variant, kind)
  }

  func keep(
    _ thumbnail: Thumbnailer.Thumbnail, of hash: String, _ variant: ThumbnailVariant
  ) async throws -> StoredThumbnail {
    let key = Self.thumbnailKeys(hash) + "\(variant)"
    try await bucket.put(
      .bytes(thumbnail.bytes), as: key, hash: Bucket.hash(of: thumbnail.bytes),
      contentType: thumbnail.kind.contentType.string)
    // If the last name goes from now on, the sweep finds the thumbnail.
    guard try await database.read({ tx in try Self.isUsed(hash, tx) }) else {
      try await bucket.delete(key)
      throw MatrixError.notFound("There is no such content.")
    }
    return try await cache(thumbnail.bytes, hash, variant, thumbnail.kind)
  }

  private func cache(
    _ bytes: [UInt8], _ hash: String, _ variant: ThumbnailVariant, _ kind: ThumbnailKind
  ) async throws -> StoredThumbnail {
    let path = folder.thumbnailPath(of: hash, variant, kind)
    try await files.run { [folder, cache] in
      let file = try IncomingFile(in: folder)
      try file.write(bytes)
      try file.keep(at: path)
      cache.added(bytes: Int64(bytes.count))
    }
    return StoredThumbnail(path: path, kind: kind)
  }
}

/// How often this disk had what was asked for.
struct MediaCacheCounters: Sendable {
  private let hits: Counter
  private let misses: Counter

  init(_ cache: MediaCache, metrics: Metrics = .process) {
    hits = metrics.counter(
      "martlet_media_cache_hits_total", "Content and thumbnails that were wanted and on this disk."
    ).labelled()
    misses = metrics.counter(
      "martlet_media_cache_misses_total", "Content and thumbnails that were wanted and not on this disk."
    ).labelled()
    metrics.measured("martlet_media_cache_bytes", "Bytes of the media cache, as far as they are counted.") { [weak cache] in
      Double(cache?.bytes ?? 0)
    }
  }

  func count(isHit: Bool) { isHit ? hits.add() : misses.add() }
}
