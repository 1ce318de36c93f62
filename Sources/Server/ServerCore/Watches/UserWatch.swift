import EventLoop
import MatrixModel
import Synchronization

/// One user who syncs: what may be new for them, which rooms they are in, and their parked requests.
///
/// It is forgotten when the user has not synced for a while; the next sync makes it again.
package final class UserWatch: Sendable {
  /// What the module that answers syncs keeps of the user.
  package typealias Memory = AnyObject & Sendable

  private struct State {
    var rooms: [RoomNumber: RoomWatch] = [:]
    var parked: [ParkedSync] = []
    var memory: Memory?
  }

  let userID: UserID
  /// The newest news for this user that is not a joined room's: account data, messages to devices, keys, memberships.
  package let position: Atomic<Int64>
  /// The newest change of the presence of somebody they know, by the counter of what lives in memory.
  let presence = Atomic<Int64>(0)
  /// How often the user's sessions have changed: what began to wait before may be a request of a device that is logged out.
  package let sessionChanges = Atomic<Int>(0)
  /// Monotonic nanoseconds of the last sync.
  let usedAt = Atomic<UInt64>(0)
  /// Whether the user's rooms have been added; before that, having no news means nothing.
  package let isComplete = Atomic<Bool>(false)
  private let parkedCount = Atomic<Int>(0)
  private let state = Mutex(State())

  init(userID: UserID, position: Int64) {
    self.userID = userID
    self.position = Atomic(position)
  }

  // MARK: News

  /// Whether anything after `seen` may concern the user. O(joined rooms), a few nanoseconds each; reads no table.
  package func hasNews(after seen: SyncPosition) -> Bool {
    if position.load(ordering: .sequentiallyConsistent) > seen.position { return true }
    if presence.load(ordering: .sequentiallyConsistent) > seen.typing { return true }
    return state.withLock { state in state.rooms.values.contains { $0.hasNews(after: seen) } }
  }

  /// The joined rooms that may have something after `seen`.
  package func rooms(withNewsAfter seen: SyncPosition) -> [RoomNumber] {
    state.withLock { state in
      var rooms: [RoomNumber] = []
      for (number, room) in state.rooms where room.hasNews(after: seen) { rooms.append(number) }
      return rooms
    }
  }

  /// The joined rooms with an event after a position.
  package func rooms(withEventsAfter position: Int64) -> [RoomNumber] {
    state.withLock { state in
      var rooms: [RoomNumber] = []
      for (number, room) in state.rooms where room.newestEvent.load(ordering: .sequentiallyConsistent) > position {
        rooms.append(number)
      }
      return rooms
    }
  }

  package func add(_ room: RoomWatch) {
    state.withLock { $0.rooms[room.room] = room }
    room.add(self)
  }

  func remove(_ room: RoomNumber) {
    state.withLock { $0.rooms.removeValue(forKey: room) }?.remove(self)
  }

  /// Leaves every room; for a watch that is given up.
  func detach() {
    let rooms = state.withLock { state in
      defer { state.rooms = [:] }
      return state.rooms.values.map { $0 }
    }
    for room in rooms { room.remove(self) }
  }

  // MARK: Parked requests

  var isParked: Bool { parkedCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Parks the request; then the caller looks for news once more. A later publisher sees the parked request, and that look finds
  /// the news of an earlier publisher.
  func park(_ request: ParkedSync) {
    state.withLock { $0.parked.append(request) }
    parkedCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  func unpark(_ request: ParkedSync) {
    state.withLock { state in state.parked.removeAll { $0 === request } }
    parkedCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  func wake() {
    guard isParked else { return }
    for request in state.withLock({ $0.parked }) { request.finish() }
  }

  // MARK: Memory

  /// What is kept of the user as long as they are watched, made when it is asked for first.
  package func memory(_ make: () -> any Memory) -> any Memory {
    state.withLock { state in
      if let known = state.memory { return known }
      let new = make()
      state.memory = new
      return new
    }
  }
}
