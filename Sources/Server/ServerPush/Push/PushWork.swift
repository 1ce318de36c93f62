import MatrixModel
import ServerCore
import ServerRooms
import Synchronization

/// What the worker that pushes is told: that there are new events, that users have read on, that pushers wait to be activated.
package final class PushWork: Sendable {
  /// What is to be pushed besides notifications of new events.
  struct Due: Sendable {
    /// Users whose pushers are told the new number of unread messages.
    var readers: Set<UserID> = []
    var activations: [Pusher.ID] = []
  }

  private struct State {
    var due = Due()
    /// Users whose receipts have moved, until `badgeDelay` is over.
    var reading: Set<UserID> = []
  }

  let signal = WorkSignal()
  private let audience: PushAudience
  private let badgeDelay: Duration
  private let state = Mutex(State())

  init(audience: PushAudience, badgeDelay: Duration) {
    self.audience = audience
    self.badgeDelay = badgeDelay
  }

  /// Takes what is due.
  func take() -> Due {
    state.withLock { state in
      defer { state.due = Due() }
      return state.due
    }
  }

  /// A pusher waits to be activated.
  func activates(_ pusher: Pusher.ID) {
    state.withLock { $0.due.activations.append(pusher) }
    signal.notify()
  }

  private func readingEnds(of user: UserID) {
    state.withLock { state in
      state.reading.remove(user)
      state.due.readers.insert(user)
    }
    signal.notify()
  }
}

extension PushWork: RoomObserver {
  /// Without pushers there is nothing to wake the worker for.
  package func published(_ news: Note.RoomNews) {
    if !audience.isEmpty { signal.notify() }
  }

  /// Reading several rooms in a row makes one push.
  package func received(_ receipt: Receipt, in room: RoomNumber) {
    let user = receipt.user
    guard audience.contains(user), state.withLock({ $0.reading.insert(user).inserted }) else { return }
    Notifier.loop?.schedule(after: badgeDelay) { [weak self] in self?.readingEnds(of: user) }
  }
}
