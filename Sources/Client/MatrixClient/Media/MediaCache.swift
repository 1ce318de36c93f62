import ClientCore
import JSON
public import MatrixModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A cache of files from the content repository, in memory and in a folder, with limits.
///
///     await client.useMediaCache(MediaCache(folder: cachesFolder + "/media"))
///     let picture = try await client.media(uri, size: ThumbnailSize(width: 96, height: 96))
///
/// All callers of the same file wait for one download, which ends when no caller waits any more. Only one process at a time can use the
/// folder: another process has only its memory. Each file is written completely or not at all. You can remove the folder while no
/// process uses it. The cache does not touch other files in the folder.
public actor MediaCache {
  public private(set) var retention: MediaRetention
  private var folder: MediaFolder?
  private let lock: StoreLock?
  private let executor = StoreExecutor()
  private let now: @Sendable () -> Int64
  private var memory = MediaMemory()
  private var flights: [MediaKey: Flight] = [:]
  private var lastID = 0

  /// Downloads a file to a destination, or returns its bytes.
  typealias Fetch =
    @Sendable (
      _ destination: Exchange.Destination, _ bytesLimit: Int64, _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async -> Result<[UInt8], ClientError>
  public typealias Progress = @Sendable (_ receivedBytes: Int64, _ totalBytes: Int64) -> Void

  private struct Flight {
    let id: Int
    let task: Task<Void, Never>
    var incoming: String?
    var reservedBytes: Int64 = 0
    var waiters: [Int: Waiter] = [:]
  }

  private struct Waiter {
    let continuation: CheckedContinuation<Result<Content, ClientError>, Never>
    let progress: Progress?
  }

  /// The place of a file.
  enum Content: Sendable {
    case bytes([UInt8])
    case file(String)
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Creates a cache. If the folder cannot be used, the cache is in memory only.
  /// - Parameter folder: the path of the folder, which is created if it does not exist; nil for memory only.
  public init(folder: String? = nil, retention: MediaRetention = MediaRetention()) {
    self.init(folder: folder, retention: retention, now: MediaCache.systemTime)
  }

  init(folder path: String?, retention: MediaRetention, now: @escaping @Sendable () -> Int64) {
    self.retention = retention
    self.now = now
    var folder: MediaFolder?
    var lock: StoreLock?
    if let path, MediaFolder.make(path) {
      lock = try? StoreLock(path: path + "/" + MediaFolder.lockName)
      // Without it the folder is another's.
      if lock?.take() ?? false { folder = MediaFolder(path: path) }
    }
    folder?.removeUnused(since: now() - retention.ageMilliseconds)
    folder?.shrink(to: retention.diskBytes)
    self.folder = folder
    self.lock = lock
  }

  // MARK: Bounds

  /// The number of bytes in the folder.
  public var diskBytes: Int64 { folder?.bytes ?? 0 }
  public var memoryBytes: Int { memory.bytes }

  /// Sets the limits from now on, and removes files that exceed them at once.
  public func setRetention(_ retention: MediaRetention) {
    self.retention = retention
    memory.shrink(to: retention.memoryBytes)
    removeExpired()
    makeRoom()
  }

  /// Removes all files. Downloads under way continue.
  public func clear() {
    memory = MediaMemory()
    folder?.removeAll()
  }

  /// Removes files that have not been used for too long. The cache also does so after each download.
  public func removeExpired() {
    let time = now() - retention.ageMilliseconds
    folder?.removeUnused(since: time)
    memory.removeUnused(since: time)
  }

  public func contains(_ uri: MediaURI, size: ThumbnailSize? = nil) -> Bool { known(MediaKey(uri, size)) != nil }

  private func known(_ key: MediaKey) -> Content? {
    let time = now()
    if let bytes = memory.use(key, at: time, notBefore: time - retention.ageMilliseconds) { return .bytes(bytes) }
    guard let entry = folder?.entries[key], entry.usedAtMilliseconds >= time - retention.ageMilliseconds,
      let used = folder?.use(key, at: time), let path = folder?.path(of: used)
    else { return nil }
    return .file(path)
  }

  /// Removes files so that the others and the downloads under way fit into the limit.
  private func makeRoom() {
    let reserved = flights.values.reduce(0) { $0 + $1.reservedBytes }
    folder?.shrink(to: max(0, retention.diskBytes - reserved))
  }

  // MARK: Asking

  func bytes(_ key: MediaKey, _ progress: Progress?, fetch: @escaping Fetch) async throws(ClientError) -> [UInt8] {
    for _ in 0..<2 {
      switch try await content(key, progress, fetch) {
      case .bytes(let bytes): return bytes
      case .file(let path):
        // It may have gone to make room for others.
        guard let bytes = MediaCache.read(path, limit: retention.fileBytes) else {
          folder?.remove(key)
          continue
        }
        memory.put(key, bytes, at: now(), limit: retention.memoryBytes)
        return bytes
      }
    }
    throw .attachmentIsGone
  }

  func file(_ key: MediaKey, _ progress: Progress?, fetch: @escaping Fetch) async throws(ClientError) -> String {
    guard folder != nil else { throw .tooLarge(limitBytes: 0) }
    memory.remove(key)
    guard case .file(let path) = try await content(key, progress, fetch) else { throw .attachmentIsGone }
    return path
  }

  private func content(_ key: MediaKey, _ progress: Progress?, _ fetch: @escaping Fetch) async throws(ClientError) -> Content {
    if let known = known(key) { return known }
    lastID += 1
    let id = lastID
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if flights[key] == nil { begin(key, fetch) }
        flights[key]?.waiters[id] = Waiter(continuation: continuation, progress: progress)
      }
    } onCancel: {
      Task { await self.giveUp(key, id) }
    }
    return try result.get()
  }

  private func giveUp(_ key: MediaKey, _ id: Int) {
    guard let waiter = flights[key]?.waiters.removeValue(forKey: id) else { return }
    waiter.continuation.resume(returning: .failure(.cancelled))
    guard let flight = flights[key], flight.waiters.isEmpty else { return }
    flight.task.cancel()
    flights[key] = nil
  }

  // MARK: Downloads

  private func begin(_ key: MediaKey, _ fetch: @escaping Fetch) {
    lastID += 1
    let id = lastID
    let incoming = folder?.incomingPath()
    let limit = folder == nil ? Int64(retention.memoryBytes / 8) : retention.fileBytes
    let (steps, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task {
      async let end = {
        defer { continuation.finish() }
        return await fetch(incoming.map { .file(path: $0) } ?? .memory, limit) { continuation.yield($0) }
      }()
      for await step in steps { moved(key, id, step) }
      let result = await end
      landed(key, id, incoming, result)
    }
    flights[key] = Flight(id: id, task: task, incoming: incoming)
  }

  /// Makes room for the whole file as soon as its size is known.
  private func moved(_ key: MediaKey, _ id: Int, _ step: TransferProgress) {
    guard let flight = flights[key], flight.id == id else { return }
    let bytes = min(max(step.bytesToReceive, step.receivedBytes), retention.fileBytes)
    if flight.incoming != nil, bytes > flight.reservedBytes {
      flights[key]?.reservedBytes = bytes
      makeRoom()
    }
    for waiter in flight.waiters.values { waiter.progress?(step.receivedBytes, step.bytesToReceive) }
  }

  private func landed(_ key: MediaKey, _ id: Int, _ incoming: String?, _ result: Result<[UInt8], ClientError>) {
    guard let flight = flights[key], flight.id == id else {
      // Nobody waits any more, but it is here.
      if let incoming { unlink(incoming) }
      return
    }
    let content = result.flatMap { bytes in keep(key, incoming, bytes) }
    flights[key] = nil
    makeRoom()
    for waiter in flight.waiters.values { waiter.continuation.resume(returning: content) }
  }

  private func keep(_ key: MediaKey, _ incoming: String?, _ bytes: [UInt8]) -> Result<Content, ClientError> {
    guard let incoming else {
      memory.put(key, bytes, at: now(), limit: retention.memoryBytes)
      return .success(.bytes(bytes))
    }
    guard let size = FileSize.bytes(of: incoming) else { return .failure(.attachmentIsGone) }
    guard size <= retention.fileBytes else {
      unlink(incoming)
      return .failure(.tooLarge(limitBytes: retention.fileBytes))
    }
    flights[key]?.reservedBytes = size
    removeExpired()
    makeRoom()
    flights[key]?.reservedBytes = 0
    guard let entry = folder?.take(incoming, as: key, bytes: size, at: now()), let path = folder?.path(of: entry) else {
      return .failure(.attachmentIsGone)
    }
    return .success(.file(path))
  }

  // MARK: The system

  private static let systemTime: @Sendable () -> Int64 = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Returns nil if the file does not exist or exceeds the limit.
  private static func read(_ path: String, limit: Int64) -> [UInt8]? {
    guard let size = FileSize.bytes(of: path), size <= limit, let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      count = buffer.baseAddress.map { fread($0, 1, Int(size), file) } ?? 0
    }
  }
}
