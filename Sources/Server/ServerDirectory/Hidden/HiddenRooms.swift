import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// Rooms that a user does not want to see until the next message there: the room's account data `martlet.hidden` is
/// `{"before":<milliseconds>}` as long, and `{}` after.
///
/// The commit of the message shows the room again, at a cost of those who have hidden it; where nobody has, it is a look into
/// memory.
package final class HiddenRooms: NoteFollower {
  /// Rooms of one request.
  package static let roomsLimit = 5_000

  private let database: Database
  private let rooms: Rooms
  private let rows: HiddenRoomRows
  private let clock: WallClock

  package init(database: Database, rooms: Rooms, rows: HiddenRoomRows, clock: WallClock) {
    self.database = database
    self.rooms = rooms
    self.rows = rows
    self.clock = clock
    database.follow(.inUse, by: self)
  }

  package func apply(_ note: Note, _ committed: CommittedRows) {
    if case .inUse(.hidden, let room) = note { rows.used(room) }
  }

  package func reload(_ committed: CommittedRows) { rows.forget() }

  /// Hides rooms the user is in; all of them for nil. Either all are hidden or none. Answers how many were not hidden before.
  ///
  /// Throws `M_FORBIDDEN` where the user is not in one of them, `M_TOO_LARGE`.
  @discardableResult
  package func hide(_ roomIDs: [RoomID]?, of user: UserID) async throws -> Int {
    let now = clock.now()
    return try await database.write { [self] transaction in
      var hidden = 0
      for (number, roomID) in try joined(roomIDs, user, transaction) {
        if try rows.hide(number, roomID, from: user, at: now, transaction) { hidden += 1 }
      }
      return hidden
    }
  }

  /// Shows hidden rooms again; all of them for nil. One that is not hidden is no error. Answers how many were.
  @discardableResult
  package func show(_ roomIDs: [RoomID]?, of user: UserID) async throws -> Int {
    try await database.write { [self] transaction in
      var shown = 0
      for (number, roomID) in try joined(roomIDs, user, transaction) {
        if try rows.show(number, roomID, to: user, transaction) { shown += 1 }
      }
      return shown
    }
  }

  private func joined(
    _ roomIDs: [RoomID]?, _ user: UserID, _ transaction: WriteTransaction
  ) throws -> [(RoomNumber, RoomID)] {
    try rooms.joined(roomIDs, user, limit: Self.roomsLimit, in: transaction).map { ($0.number, $0.roomID) }
  }
}
