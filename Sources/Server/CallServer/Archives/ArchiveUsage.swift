import Synchronization

/// What all recordings take up on the disk, for whoever writes or asks, from any thread.
final class ArchiveUsage: Sendable {
  /// nil where there is none.
  let quotaBytes: Int64?
  private let used = Atomic<Int64>(0)

  init(quotaBytes: Int64?) { self.quotaBytes = quotaBytes }

  var bytes: Int64 { used.load(ordering: .relaxed) }

  var isFull: Bool { quotaBytes.map { bytes >= $0 } ?? false }

  /// False, and nothing is taken, where it would be too much.
  func take(_ count: Int) -> Bool {
    let now = used.wrappingAdd(Int64(count), ordering: .relaxed).newValue
    guard let quotaBytes, now > quotaBytes else { return true }
    give(back: Int64(count))
    return false
  }

  /// What must be written, or was, whatever the quota.
  func add(_ count: Int64) { used.wrappingAdd(count, ordering: .relaxed) }

  func give(back count: Int64) { used.wrappingSubtract(count, ordering: .relaxed) }
}
