import MatrixModel
import Synchronization

/// Knows the newest position that concerns each user, and wakes the syncs that wait for one.
///
/// `publish` is called in `afterPublish`, so that who wakes finds everything. A user of whom nothing was heard since the start
/// may have news up to `startPosition`.
package final class Notifier: Sendable {
  private struct Entry {
    var position: Int64
    var waiters: [UInt64: @Sendable () -> Void] = [:]
  }

  private struct State {
    var entries: [UserID: Entry] = [:]
    var nextWaiter: UInt64 = 0
  }

  private let startPosition: Int64
  private let state = Mutex(State())

  package init(startPosition: Int64) {
    self.startPosition = startPosition
  }

  /// Tells that `position` holds something for each of `users`.
  package func publish(position: Int64, users: some Sequence<UserID>) {
    let woken = state.withLock { state in
      var woken: [@Sendable () -> Void] = []
      for user in users {
        var entry = state.entries[user] ?? Entry(position: startPosition)
        entry.position = max(entry.position, position)
        woken.append(contentsOf: entry.waiters.values)
        entry.waiters = [:]
        state.entries[user] = entry
      }
      return woken
    }
    for wake in woken { wake() }
  }

  /// Whether anything after `position` may concern the user.
  package func hasNews(for user: UserID, after position: Int64) -> Bool {
    state.withLock { ($0.entries[user]?.position ?? startPosition) > position }
  }
}
