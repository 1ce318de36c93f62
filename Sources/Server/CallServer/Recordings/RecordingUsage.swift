import Synchronization

/// The disk space of recordings, readable and writable from any thread.
///
/// Half of the quota is first come, first served. The other half is reserved for all projects in equal shares, so that no project can use up everything.
final class RecordingUsage: Sendable {
  /// nil if there is no quota.
  private let quotaBytes: Int64?
  /// How many projects there are.
  private let projects: @Sendable () -> Int
  private let used = Mutex<[ProjectID: Int64]>([:])

  init(quotaBytes: Int64?, projects: @escaping @Sendable () -> Int = { 1 }) {
    self.quotaBytes = quotaBytes
    self.projects = projects
  }

  var bytes: Int64 { used.withLock { $0.values.reduce(0, +) } }

  func share(of project: ProjectID) -> Share { Share(usage: self, project: project) }

  /// The part of one project.
  struct Share: Sendable {
    fileprivate let usage: RecordingUsage
    let project: ProjectID

    /// What may still be written; nil without a quota.
    var rest: Int64? {
      let projects = usage.projects()
      return usage.used.withLock { usage.rest(of: project, $0, among: projects) }
    }

    var isFull: Bool { rest.map { $0 <= 0 } ?? false }

    /// False, and nothing is taken, where it would be too much.
    func take(_ count: Int) -> Bool {
      let projects = usage.projects()
      return usage.used.withLock { used in
        if let rest = usage.rest(of: project, used, among: projects), rest < count { return false }
        used[project, default: 0] += Int64(count)
        return true
      }
    }

    /// What must be written, or was, whatever the quota.
    func add(_ count: Int64) { usage.used.withLock { $0[project, default: 0] += count } }

    func give(back count: Int64) {
      usage.used.withLock { used in
        let bytes = (used[project] ?? 0) - count
        used[project] = bytes == 0 ? nil : bytes
      }
    }
  }

  /// Asked for each block that is written.
  private func rest(of project: ProjectID, _ used: [ProjectID: Int64], among projects: Int) -> Int64? {
    guard let quotaBytes else { return nil }
    let others = used[project] == nil ? used.count : used.count - 1
    let count = max(projects, others + 1)
    let share = quotaBytes / 2 / Int64(count)
    var taken = share * Int64(count - 1 - others)
    for (other, bytes) in used { taken += other == project ? bytes : max(share, bytes) }
    return quotaBytes - taken
  }
}
