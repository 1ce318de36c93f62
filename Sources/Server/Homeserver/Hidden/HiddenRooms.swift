import Database
import JSON
import MatrixModel
import Synchronization

/// Which rooms users have hidden until somebody writes there again.
enum HiddenRoomTables {
  static let statements = [
    // `before` is when it was hidden, in milliseconds since 1970. The same is in the room's account data, for clients; here it
    // is found by the room.
    """
    CREATE TABLE hidden_room(
      room INTEGER NOT NULL, user_id TEXT NOT NULL, before INTEGER NOT NULL, PRIMARY KEY(room, user_id)) STRICT, WITHOUT ROWID
    """
  ]
}

/// Rooms that a user does not want to see until the next message there: the room's account data `martlet.hidden` is
/// `{"before":<milliseconds>}` as long, and `{}` after.
///
/// The commit of the message shows the room again, at a cost of those who have hidden it; where nobody has, it is a look into
/// memory.
package final class HiddenRooms: Sendable {
  /// Rooms of one request.
  package static let roomsLimit = 5_000

  private let database: Database
  private let rooms: Rooms
  private let accountData: AccountData
  private let clock: WallClock
  /// At least the rooms with rows; nil until they have been read.
  private let inUse = Mutex<Set<RoomNumber>?>(nil)

  init(database: Database, rooms: Rooms, accountData: AccountData, clock: WallClock) {
    self.database = database
    self.rooms = rooms
    self.accountData = accountData
    self.clock = clock
  }

  /// Hides rooms the user is in; all of them for nil. Either all are hidden or none. Answers how many were not hidden before.
  ///
  /// Throws `M_FORBIDDEN` where the user is not in one of them, `M_TOO_LARGE`.
  @discardableResult
  package func hide(_ roomIDs: [RoomID]?, of user: UserID) async throws -> Int {
    let now = clock.now()
    return try await database.write { [self] transaction in
      var hidden = 0
      for (number, roomID) in try joined(roomIDs, user, transaction) {
        let isNew = try transaction.execute(
          "INSERT INTO hidden_room(room, user_id, before) VALUES ($1, $2, $3) ON CONFLICT(room, user_id) DO NOTHING", number,
          user, now)
        guard isNew == 1 else { continue }
        hidden += 1
        inUse.withLock { _ = $0?.insert(number) }
        let content = try JSON.object { $0.member("before", now) }
        try accountData.store(transaction, .hidden, Array(content.bytes), of: user, in: roomID)
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
        let wasHidden = try transaction.execute("DELETE FROM hidden_room WHERE room = $1 AND user_id = $2", number, user)
        guard wasHidden == 1 else { continue }
        shown += 1
        try accountData.store(transaction, .hidden, Array("{}".utf8), of: user, in: roomID)
      }
      return shown
    }
  }

  /// Shows the room to those who have hidden it, its author apart. Called inside the commit of every event.
  func noticed(_ event: StoredEvent, in roomID: RoomID, _ transaction: WriteTransaction) throws {
    guard event.isActivity, event.stateKey == nil, try isInUse(event.room, transaction) else { return }
    let users = try transaction.all(
      "SELECT user_id FROM hidden_room WHERE room = $1 AND user_id <> $2", event.room, event.sender
    ) { $0.identifier(0, as: UserID.self) }
    for user in users {
      try transaction.execute("DELETE FROM hidden_room WHERE room = $1 AND user_id = $2", event.room, user)
      try accountData.store(transaction, .hidden, Array("{}".utf8), of: user, in: roomID)
    }
  }

  private func isInUse(_ room: RoomNumber, _ transaction: WriteTransaction) throws -> Bool {
    if let known = inUse.withLock({ $0?.contains(room) }) { return known }
    var rooms: Set<RoomNumber> = []
    try transaction.query("SELECT DISTINCT room FROM hidden_room") { rooms.insert(RoomNumber($0.integer(0))) }
    inUse.withLock { [rooms] in $0 = rooms }
    return rooms.contains(room)
  }

  private func joined(
    _ roomIDs: [RoomID]?, _ user: UserID, _ transaction: WriteTransaction
  ) throws -> [(RoomNumber, RoomID)] {
    try rooms.joined(roomIDs, user, limit: Self.roomsLimit, in: transaction).map { ($0.number, $0.roomID) }
  }
}

extension Rooms {
  /// The rooms of a list as the next command sees them, or all that the user is in.
  ///
  /// Throws `M_TOO_LARGE` for more than `limit`, `M_FORBIDDEN` for one the user is not in.
  func joined(
    _ roomIDs: [RoomID]?, _ user: UserID, limit: Int, in transaction: WriteTransaction
  ) throws -> [(number: RoomNumber, roomID: RoomID)] {
    let own = try memberships.rooms(of: user, in: transaction)
    if let roomIDs {
      guard roomIDs.count <= limit else { throw MatrixError.tooLarge("One request names at most \(limit) rooms.") }
      return try roomIDs.map { roomID in
        guard let room = try cache.newest(roomID, in: transaction), room.isJoined(user) else {
          throw MatrixError.forbidden("You are not in the room \(roomID).")
        }
        return (room.number, roomID)
      }
    }
    let joined = own.filter { $0.value.membership == .join }.keys.sorted { $0.value < $1.value }
    guard joined.count <= limit else {
      throw MatrixError.tooLarge("You are in more than \(limit) rooms; name them in several requests.")
    }
    return try joined.compactMap { number in
      try transaction.first("SELECT room_id FROM room WHERE room = $1", number) { (number, $0.identifier(0)) }
    }
  }
}

extension StoredEvent {
  /// What counts as somebody saying something, as clients sort rooms by it: MSC4186, `bump_stamp`.
  static let activityTypes: Set<EventType> = [
    .create, .message, .encrypted, .sticker, "m.call.invite", "m.poll.start", "org.matrix.msc3381.poll.start",
    "m.beacon_info", "org.matrix.msc3672.beacon_info"
  ]

  var isActivity: Bool { Self.activityTypes.contains(type) }
}
