import Glibc
import Synchronization

/// A request was refused because it would store more, and the disk is full.
package struct DiskFullError: Error {
  package init() {}
}

/// Watches how much space the file system of the data folder has left.
///
/// The last part of it is a reserve. While less than that is free, the server refuses requests that would store more. Reading,
/// deleting and what the server writes by itself still work.
package final class DiskSpace: Sendable {
  /// The reserve, or half of the file system if that is smaller. It is several times what the database's log holds.
  package static let reserveBytes: Int64 = 64 << 20
  /// The time between two log lines about refusals. A write that failed for want of space counts for as long, even if the file system
  /// does not look full: a quota may be used up.
  package static let pause = Duration.seconds(60)

  package struct Measure: Sendable, Equatable {
    package let freeBytes: Int64
    package let capacityBytes: Int64
    /// The size of the database's write-ahead log. When it is copied into the database, that may grow by as much at once.
    package let logBytes: Int64

    package init(freeBytes: Int64, capacityBytes: Int64, logBytes: Int64 = 0) {
      self.freeBytes = freeBytes
      self.capacityBytes = capacityBytes
      self.logBytes = logBytes
    }

    /// The bytes that requests may not use. A log beyond the reserve does not count: it never shrinks, even if it is empty.
    package var reservedBytes: Int64 {
      let reserve = min(reserveBytes, capacityBytes / 2)
      return reserve + min(logBytes, reserve)
    }
  }

  private struct Refusals {
    var total = 0
    var untold = 0
    var told: ContinuousClock.Instant?
    var failed: ContinuousClock.Instant?
  }

  /// With so much room beyond the reserve, it is not measured again for each small request: nothing fills it within `restMilliseconds`.
  package static let plentyBytes: Int64 = 1 << 30
  package static let restMilliseconds: Int64 = 100
  /// A request with a larger body is measured in any case.
  private static let smallBytes: Int64 = 1 << 20

  private let measure: @Sendable () -> Measure?
  private let now: @Sendable () -> ContinuousClock.Instant
  private let refusals = Mutex(Refusals())
  private let start: ContinuousClock.Instant
  /// In milliseconds since `start`.
  private let isPlentyUntil = Atomic<Int64>(0)

  /// - Parameters:
  ///   - measure: Returns nil if the space is unknown. The disk then counts as full only after a write that failed.
  ///   - now: the time, for tests.
  package init(
    measure: @escaping @Sendable () -> Measure?, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.measure = measure
    self.now = now
    start = now()
  }

  /// - Parameter log: the path of the database's write-ahead log; nil if it lies elsewhere.
  package convenience init(folder: String, log: String?) {
    self.init(measure: { Self.measure(folder, log: log) })
  }

  /// The space now; nil if the system does not tell it.
  package var current: Measure? { measure() }

  /// Throws `DiskFullError` if the disk is full, or would be with so many bytes more.
  package func requireSpace(for bytes: Int64 = 0) throws(DiskFullError) {
    let time = (now() - start).milliseconds
    if bytes <= Self.smallBytes, time < isPlentyUntil.load(ordering: .relaxed) { return }
    guard let measure = measure() else { return }
    let room = measure.freeBytes - measure.reservedBytes - max(0, bytes)
    guard room >= 0 else { throw DiskFullError() }
    if room >= Self.plentyBytes { isPlentyUntil.store(time + Self.restMilliseconds, ordering: .relaxed) }
  }

  /// The reason why nothing more is stored, in a sentence for operators; nil while there is room.
  package var trouble: String? {
    if let measure = measure(), measure.freeBytes < measure.reservedBytes {
      return
        "The disk of the data folder is full: \(measure.freeBytes) bytes are free, \(measure.reservedBytes) are kept in reserve."
    }
    let (failed, now) = (refusals.withLock { $0.failed }, now())
    guard let failed, now - failed < Self.pause else { return nil }
    return "A write to the data folder failed because there was no space for it."
  }

  /// The number of requests refused since the start.
  package var refusedRequests: Int { refusals.withLock { $0.total } }

  /// Counts a request that was refused or failed for want of space. Once a minute, returns how many there were since the last time;
  /// otherwise nil.
  ///
  /// - Parameter hasFailed: whether a write was tried.
  package func countRefusal(hasFailed: Bool) -> Int? {
    let now = now()
    return refusals.withLock { refusals in
      refusals.total += 1
      refusals.untold += 1
      if hasFailed { refusals.failed = now }
      if let told = refusals.told, now - told < Self.pause { return nil }
      defer { refusals.untold = 0 }
      refusals.told = now
      return refusals.untold
    }
  }

  /// The bytes of a file; 0 if it does not exist.
  private static func size(of path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private static func measure(_ folder: String, log: String?) -> Measure? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
    let block = Int64(clamping: status.f_frsize)
    // Without a free inode no file can be made, whatever space there is.
    let isOutOfFiles = status.f_files > 0 && status.f_favail == 0
    return Measure(
      freeBytes: isOutOfFiles ? 0 : Int64(clamping: status.f_bavail) * block,
      capacityBytes: Int64(clamping: status.f_blocks) * block, logBytes: log.map(size) ?? 0)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
