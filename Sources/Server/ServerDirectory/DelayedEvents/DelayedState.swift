import Database
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization

/// Cancels delayed state events when another user sets the same state.
package final class DelayedState: RoomObserver {
  /// At least the rooms where state waits; nil until they have been read.
  private let rooms = Mutex<Set<RoomNumber>?>(nil)
  private let clock: WallClock

  package init(clock: WallClock) { self.clock = clock }

  /// A state event waits to be sent to the room.
  func scheduled(in room: RoomNumber) { rooms.withLock { _ = $0?.insert(room) } }

  /// The rooms are to be read again.
  func forget() { rooms.withLock { $0 = nil } }

  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
    guard let stateKey = event.stateKey, try isWaiting(in: room.number, transaction) else { return }
    let error = MatrixError.unknown(status: 409, "Another user has set the same state meanwhile.")
    try transaction.execute(
      """
      UPDATE delayed_event SET finalised = $1, error = $2
      WHERE room = $3 AND type = $4 AND state_key = $5 AND user_id <> $6 AND finalised IS NULL
      """, clock.now(), error.bytes, room.number, event.type, stateKey, event.sender)
  }

  private func isWaiting(in room: RoomNumber, _ transaction: WriteTransaction) throws -> Bool {
    if let known = rooms.withLock({ $0?.contains(room) }) { return known }
    var waiting: Set<RoomNumber> = []
    try transaction.query("SELECT DISTINCT room FROM delayed_event WHERE finalised IS NULL AND state_key IS NOT NULL") {
      waiting.insert(RoomNumber($0.integer(0)))
    }
    rooms.withLock { [waiting] in $0 = waiting }
    return waiting.contains(room)
  }
}
