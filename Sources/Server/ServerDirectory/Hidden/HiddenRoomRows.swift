import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import Synchronization

/// Which rooms users have hidden until somebody writes there again.
package enum HiddenRoomTables {
  package static let statements = [
    // `before` is when it was hidden, in milliseconds since 1970. The same is in the room's account data, for clients; here it
    // is found by the room.
    """
    CREATE TABLE hidden_room(
      room INTEGER NOT NULL, user_id TEXT NOT NULL, before INTEGER NOT NULL, PRIMARY KEY(room, user_id)) STRICT, WITHOUT ROWID
    """
  ]
}

/// The rows of hidden rooms. The next message in a room deletes those of the room.
package final class HiddenRoomRows: Sendable {
  private let accountData: AccountData
  /// At least the rooms with rows; nil until they have been read.
  private let inUse = Mutex<Set<RoomNumber>?>(nil)

  package init(accountData: AccountData) { self.accountData = accountData }

  /// The room has rows.
  func used(_ room: RoomNumber) { inUse.withLock { _ = $0?.insert(room) } }

  /// The rooms are to be read again.
  func forget() { inUse.withLock { $0 = nil } }

  /// Answers whether the room was not hidden before. `now` is in milliseconds since 1970.
  func hide(
    _ room: RoomNumber, _ roomID: RoomID, from user: UserID, at now: Int64, _ transaction: WriteTransaction
  ) throws -> Bool {
    let isNew = try transaction.changes(
      "INSERT INTO hidden_room(room, user_id, before) VALUES ($1, $2, $3) ON CONFLICT(room, user_id) DO NOTHING", room, user,
      now)
    guard isNew == 1 else { return false }
    used(room)
    transaction.note(.inUse(.hidden, room))
    let content = try JSON.object { $0.member("before", now) }
    try accountData.store(transaction, .hidden, Array(content.bytes), of: user, in: roomID)
    return true
  }

  /// Answers whether the room was hidden.
  func show(_ room: RoomNumber, _ roomID: RoomID, to user: UserID, _ transaction: WriteTransaction) throws -> Bool {
    let wasHidden = try transaction.changes("DELETE FROM hidden_room WHERE room = $1 AND user_id = $2", room, user)
    guard wasHidden == 1 else { return false }
    try accountData.store(transaction, .hidden, Array("{}".utf8), of: user, in: roomID)
    return true
  }

  private func isInUse(_ room: RoomNumber, _ transaction: WriteTransaction) throws -> Bool {
    if let known = inUse.withLock({ $0?.contains(room) }) { return known }
    var rooms: Set<RoomNumber> = []
    try transaction.query("SELECT DISTINCT room FROM hidden_room") { rooms.insert(RoomNumber($0.integer(0))) }
    inUse.withLock { [rooms] in $0 = rooms }
    return rooms.contains(room)
  }
}

extension HiddenRoomRows: RoomObserver, AccountObserver {
  /// Shows the room to the users who have hidden it, except the author.
  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
    guard event.stateKey == nil, event.isActivity, try isInUse(room.number, transaction) else { return }
    let users = try transaction.all(
      "SELECT user_id FROM hidden_room WHERE room = $1 AND user_id <> $2", room.number, event.sender
    ) { $0.identifier(0, as: UserID.self) }
    for user in users { _ = try show(room.number, room.roomID, to: user, transaction) }
  }

  package func erased(_ userID: UserID, at position: Int64, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM hidden_room WHERE user_id = $1", userID)
  }
}
