import MatrixModel
import Synchronization

/// What syncs must know of a room without reading it: the position of its newest event, and the users to wake.
package final class RoomWatch: Sendable {
  package let room: RoomNumber
  /// Of the newest event or receipt; news may turn out to be none, but none is missed.
  package let position: Atomic<Int64>
  /// Of the newest event alone: by it rooms are in order.
  package let newestEvent = Atomic<Int64>(0)
  /// Of the newest change of who is typing, by the typing counter.
  package let typing = Atomic<Int64>(0)
  /// Whether the positions count what was published before the watch was made; a reader of the rows raises them.
  package let isComplete = Atomic<Bool>(false)
  /// The joined users who sync.
  private let watchers = Mutex<[UserWatch]>([])

  init(room: RoomNumber, position: Int64) {
    self.room = room
    self.position = Atomic(position)
  }

  func hasNews(after seen: SyncPosition) -> Bool {
    position.load(ordering: .sequentiallyConsistent) > seen.position
      || typing.load(ordering: .sequentiallyConsistent) > seen.typing
  }

  func add(_ watch: UserWatch) {
    watchers.withLock { watchers in
      if !watchers.contains(where: { $0 === watch }) { watchers.append(watch) }
    }
  }

  func remove(_ watch: UserWatch) {
    watchers.withLock { watchers in
      guard let index = watchers.firstIndex(where: { $0 === watch }) else { return }
      watchers.swapAt(index, watchers.count - 1)
      watchers.removeLast()
    }
  }

  /// The joined users who sync.
  var users: [UserWatch] { watchers.withLock { $0 } }

  func removeAll() { watchers.withLock { $0 = [] } }

  /// Wakes every sync that waits for this room. O(users who sync).
  func wake() {
    for watch in users { watch.wake() }
  }
}
