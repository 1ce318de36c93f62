import Database
import MatrixModel
import ServerCore
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
    /// The rows have not been read. What was published since the start is kept: a transaction that reads them later may
    /// see the database as it was before.
    case unread(newer: Rooms)
    case loaded(Rooms)
  }

  private let users = Mutex<[UserID: State]>([:])

  /// All rooms the user has or had to do with, forgotten ones included.
  package func rooms(of user: UserID, in transaction: ReadTransaction) throws -> Rooms {
    if let rooms = cachedRooms(of: user) { return rooms }
    var rooms: Rooms = [:]
    try transaction.query(
      "SELECT membership, position, forgotten, room FROM membership WHERE user_id = $1", user
    ) { row in
      rooms[RoomNumber(row.integer(3))] = Entry(row)
    }
    // A write sees rows that may yet be undone.
    if transaction is WriteTransaction { return rooms }
    return users.withLock { users in
      switch users[user] {
      case .loaded(let loaded)?: return loaded
      case .unread(let newer)?: rooms.merge(newer) { $1.position >= $0.position ? $1 : $0 }
      case nil: break
      }
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

  /// Shows a change that is durable.
  func publish(_ entry: Entry, of user: UserID, in room: RoomNumber) {
    users.withLock { users in
      switch users[user] {
      case .unread(var newer):
        newer[room] = entry
        users[user] = .unread(newer: newer)
      case .loaded(var rooms):
        users[user] = nil
        rooms[room] = entry
        users[user] = .loaded(rooms)
      case nil: users[user] = .unread(newer: [room: entry])
      }
    }
  }

  /// Reads what a commit has made of a user's membership of a room, and shows it. A row that is gone went with its room.
  ///
  /// - Parameter position: of the commit.
  func reread(_ user: UserID, in room: RoomNumber, at position: Int64, _ transaction: ReadTransaction) throws -> Entry {
    let entry = try transaction.first(
      "SELECT membership, position, forgotten FROM membership WHERE user_id = $1 AND room = $2", user, room, row: Entry.init
    )
    let found = entry ?? Entry(membership: .leave, position: position, isForgotten: true)
    publish(found, of: user, in: room)
    return found
  }

  /// Forgets all that was read: what another node did is not known.
  func removeAll() { users.withLock { $0 = [:] } }
}

extension Memberships.Entry {
  /// Reads a row of membership, position and whether the room is forgotten.
  fileprivate init(_ row: Row) {
    self.init(
      membership: Membership(rawValue: UInt8(truncatingIfNeeded: row.integer(0))) ?? .leave, position: row.integer(1),
      isForgotten: row.bool(2))
  }
}
