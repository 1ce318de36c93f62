import Synchronization

/// Those who follow commits, found by the kinds of notes they want, and those among them that have to be reloaded.
final class CommitFollowers: Sendable {
  /// Components hold the database: it does not hold them.
  private struct Entry: Sendable {
    weak var follower: (any CommitFollower)?
  }

  private struct State {
    /// By kind.
    var lists: [[Entry]] = []
    var stale: [Entry] = []
  }

  private let state = Mutex(State())

  func add(_ follower: any CommitFollower, to kinds: [UInt8]) {
    state.withLock { state in
      for kind in kinds.map(Int.init) {
        while state.lists.count <= kind { state.lists.append([]) }
        state.lists[kind].removeAll { $0.follower == nil }
        state.lists[kind].append(Entry(follower: follower))
      }
    }
  }

  func apply(_ notes: [any CommitNote], _ rows: CommittedRows) {
    for follower in takeStale() { reload(follower, rows) }
    for note in notes {
      for entry in followers(of: note) {
        guard let follower = entry.follower else { continue }
        do { try follower.apply(note, rows) } catch { reload(follower, rows) }
      }
    }
    rows.end()
  }

  func wake(_ notes: [any CommitNote]) {
    for note in notes { for entry in followers(of: note) { entry.follower?.wake(note) } }
  }

  private func reload(_ follower: any CommitFollower, _ rows: CommittedRows) {
    // What could not be read in this transaction may be read in another.
    rows.end()
    do { try follower.reload(rows) } catch { state.withLock { $0.stale.append(Entry(follower: follower)) } }
  }

  private func takeStale() -> [any CommitFollower] {
    state.withLock { state in
      guard !state.stale.isEmpty else { return [] }
      defer { state.stale = [] }
      return state.stale.compactMap(\.follower)
    }
  }

  private func followers(of note: any CommitNote) -> [Entry] {
    let kind = Int(note.kindNumber)
    return state.withLock { $0.lists.count > kind ? $0.lists[kind] : [] }
  }
}
