import Synchronization

/// Lets pushers work in the background: each one at a time, and a bounded number of them at once.
final class PusherRuns: Sendable {
  typealias Work = @Sendable (Pusher.ID) async -> Void

  private struct State {
    var running: [Pusher.ID: Task<Void, Never>] = [:]
    /// What came up for pushers that are running: they look once more.
    var again: Set<Pusher.ID> = []
    var waiting: [Pusher.ID] = []
    var idle: [CheckedContinuation<Void, Never>] = []
    var isStopped = false
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: pushers that work at once.
  init(limit: Int) { self.limit = limit }

  /// Has a pusher do `work`, once more if it is at it. Returns at once.
  func start(_ id: Pusher.ID, _ work: @escaping Work) {
    state.withLock { state in
      if state.isStopped { return }
      if state.running[id] != nil {
        state.again.insert(id)
      } else if state.running.count >= limit {
        if !state.waiting.contains(id) { state.waiting.append(id) }
      } else {
        run(id, work, &state)
      }
    }
  }

  private func run(_ id: Pusher.ID, _ work: @escaping Work, _ state: inout State) {
    state.running[id] = Task { [self] in
      await work(id)
      finish(id, work)
    }
  }

  private func finish(_ id: Pusher.ID, _ work: @escaping Work) {
    let idle = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.running[id] = nil
      if !state.isStopped {
        if state.again.remove(id) != nil { state.waiting.append(id) }
        if !state.waiting.isEmpty { run(state.waiting.removeFirst(), work, &state) }
      }
      guard state.running.isEmpty else { return [] }
      defer { state.idle = [] }
      return state.idle
    }
    for waiter in idle { waiter.resume() }
  }

  /// Returns when no pusher has anything to do now.
  func settle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state -> Bool in
        if state.running.isEmpty { return true }
        state.idle.append(continuation)
        return false
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Starts nothing any more and returns when what is under way has ended.
  ///
  /// - Parameter cancels: whether it is told to end early.
  func stop(cancels: Bool) async {
    let running = state.withLock { state in
      state.isStopped = true
      state.waiting = []
      return Array(state.running.values)
    }
    if cancels { for task in running { task.cancel() } }
    for task in running { await task.value }
  }
}
