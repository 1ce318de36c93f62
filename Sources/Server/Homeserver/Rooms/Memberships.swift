import Database
import MatrixModel
import Synchronization

/// In which rooms a user is, and how: the user's side of `m.room.member`, in RAM once asked for.
package final class Memberships: Sendable {
  package struct Entry: Sendable {
    package let membership: Membership
    /// Position of the member event.
    package let position: Int64
    package let isForgotten: Bool
  }

  package typealias Rooms = [RoomNumber: Entry]

  private enum State {
    /// Rows are being read; what is published meanwhile is newer than they are.
    case loading(newer: Rooms)
    case loaded(Rooms)
  }

  private let users = Mutex<[UserID: State]>([:])

  /// All rooms the user has or had to do with, forgotten ones included.
  package func rooms(of user: UserID, in transaction: ReadTransaction) throws -> Rooms {
    if let rooms = cachedRooms(of: user) { return rooms }
    users.withLock { if $0[user] == nil { $0[user] = .loading(newer: [:]) } }
    var rooms: Rooms = [:]
    try transaction.query(
      "SELECT room, membership, position, forgotten FROM membership WHERE user_id = $1", user
    ) { row in
      rooms[RoomNumber(row.integer(0))] = Entry(
        membership: Membership(rawValue: UInt8(truncatingIfNeeded: row.integer(1))) ?? .leave, position: row.integer(2),
        isForgotten: row.bool(3))
    }
    return users.withLock { users in
      guard case .loading(let newer)? = users[user] else {
        if case .loaded(let loaded)? = users[user] { return loaded }
        return rooms
      }
      rooms.merge(newer) { $1.position >= $0.position ? $1 : $0 }
      users[user] = .loaded(rooms)
      return rooms
    }
  }

  /// The rooms, if they are in RAM.
  package func cachedRooms(of user: UserID) -> Rooms? {
    users.withLock { users in
      if case .loaded(let rooms)? = users[user] { return rooms }
      return nil
    }
  }

  /// Called in `afterCommit`.
  func publish(_ entry: Entry, of user: UserID, in room: RoomNumber) {
    users.withLock { users in
      switch users[user] {
      case .loading(var newer):
        newer[room] = entry
        users[user] = .loading(newer: newer)
      case .loaded(var rooms):
        users[user] = nil
        rooms[room] = entry
        users[user] = .loaded(rooms)
      case nil: break
      }
    }
  }
}
