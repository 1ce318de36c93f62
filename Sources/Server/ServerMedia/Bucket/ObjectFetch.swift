import EventLoop
import ObjectStore
import Synchronization

/// Content on its way from the bucket to this disk. Those who want it read what has come, and wait for the rest.
final class ObjectFetch: Sendable {
  private struct State {
    var fetched: Int64 = 0
    /// Set at the end.
    var result: Result<Void, any Error>?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Bytes of the first request, so that a reader has something soon, and of the others.
  private static let firstBytes: Int64 = 256 << 10
  static let pieceBytes: Int64 = 4 << 20
  /// Bytes that a reader takes from the file at once.
  private static let readBytes: Int64 = 256 << 10

  private let hash: String
  private let bytes: Int64
  private let files: BlockingPool
  private let place: String
  /// Written by `run` alone; readers read what is written.
  private let file: IncomingFile
  private let state = Mutex(State())

  /// Blocks.
  init(_ hash: String, bytes: Int64, into folder: MediaFolder, files: BlockingPool) throws {
    (self.hash, self.bytes, self.files) = (hash, bytes, files)
    place = folder.path(of: hash)
    file = try IncomingFile(onDiskIn: folder)
  }

  /// Bytes that have come.
  var fetched: Int64 { state.withLock { $0.fetched } }

  /// Fetches everything, compares it with its hash and moves it to its place. Called once; its failure is the readers' too.
  func run(from bucket: Bucket, _ key: String) async {
    let result: Result<Void, any Error>
    do {
      while fetched < bytes {
        let start = fetched
        let end = min(bytes, start + (start == 0 ? Self.firstBytes : Self.pieceBytes))
        let piece = try await bucket.get(key, start..<end)
        try await files.run { [file] in try file.write(piece) }
        advance { $0.fetched = end }
      }
      guard file.hash() == hash else { throw BucketError.damaged(key: key) }
      try await files.run { [file, place] in try file.keep(at: place) }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    advance { $0.result = result }
  }

  private func advance(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Gives a range of the content to `write`, piece by piece. What has come before a failure may have been given.
  func read(_ range: Range<Int64>, _ write: ([UInt8]) async throws -> Void) async throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      try Task.checkCancellation()
      let available = min(range.upperBound, try await fetched(beyond: offset))
      let (start, count) = (offset, Int(min(available - offset, Self.readBytes)))
      try await write(try await files.run { [file] in try file.read(at: start, count: count) })
      offset += Int64(count)
    }
  }

  /// Suspends until everything is in its place.
  func wait() async throws {
    while true {
      if let result = state.withLock({ $0.result }) { return try result.get() }
      await pause { $0.result == nil }
    }
  }

  /// Suspends until more than `offset` bytes have come; returns how many.
  func fetched(beyond offset: Int64) async throws -> Int64 {
    while true {
      let (fetched, result) = state.withLock { ($0.fetched, $0.result) }
      if fetched > offset { return fetched }
      try result?.get()
      await pause { $0.fetched <= offset && $0.result == nil }
    }
  }

  /// Suspends until something changes, unless `isNeeded` says that it has.
  private func pause(while isNeeded: (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isWaiting = state.withLock { state in
        guard isNeeded(state) else { return false }
        state.waiting.append(continuation)
        return true
      }
      if !isWaiting { continuation.resume() }
    }
  }
}
