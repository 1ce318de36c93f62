import Database
import JSON
import MatrixModel
import ServerAccounts

package enum DirectRoomTables {
  package static let statements = [
    // The one direct room of two users; `lower_user` comes first in byte order.
    """
    CREATE TABLE direct_room(
      lower_user TEXT NOT NULL, higher_user TEXT NOT NULL, room INTEGER NOT NULL,
      PRIMARY KEY(lower_user, higher_user)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX direct_room_room ON direct_room(room)"
  ]
}

/// One room per pair of users, the same for both. Extension: capability `martlet.direct`.
///
/// The row that names the pair's room is written in the commit that makes the room, by the one writer there is: two who ask at
/// once get one room.
package final class DirectRooms: Sendable {
  /// What a client asks for.
  package struct Request: Sendable {
    package let user: UserID
    /// What is made where the two have no room yet.
    let creation: RoomCreation

    /// Throws what the other initializer throws.
    package init(with user: UserID, initialState: JSON?, defaultVersion: ByteString) throws {
      let json = try JSON.object { writer in
        writer.member("user_id", user)
        if let initialState { writer.member("initial_state", initialState) }
      }
      try self.init(json, defaultVersion: defaultVersion)
    }

    /// From `user_id`, and of what `createRoom` takes `name` and `initial_state`.
    ///
    /// Throws `M_MISSING_PARAM`, `M_INVALID_PARAM`, `M_BAD_JSON`.
    package init(_ json: JSON, defaultVersion: ByteString) throws {
      let user: UserID = try json.requiredIdentifier("user_id")
      self.user = user
      let body = try JSON.object { writer in
        writer.member("preset", "trusted_private_chat")
        writer.member("is_direct", true)
        writer.key("invite")
        writer.array { $0.write(user) }
        if let name = json["name"] { writer.member("name", name) }
        if let state = json["initial_state"] { writer.member("initial_state", state) }
      }
      var creation = try RoomCreation(body, defaultVersion: defaultVersion)
      let rejoin = RoomCreation.InitialState(type: .rejoin, stateKey: "", content: try JSON.object { $0.member("allow", true) })
      creation.initialState.insert(rejoin, at: 0)
      self.creation = creation
    }
  }

  /// Rooms, each replacing the one before, that are followed.
  static let replacementsLimit = 20
  /// Rooms of one user's `m.direct` that are looked at for one to take over.
  static let listedRoomsLimit = 50

  private let database: Database
  private let rooms: Rooms
  private let lists: DirectRoomLists
  package let defaultVersion: ByteString

  package init(database: Database, rooms: Rooms, lists: DirectRoomLists, defaultVersion: ByteString) {
    self.database = database
    self.rooms = rooms
    self.lists = lists
    self.defaultVersion = defaultVersion
  }

  /// The direct room of the user with another: the one there is, with both let back in who have left, else a new one.
  ///
  /// Throws `M_INVALID_PARAM` for the user's own ID, `M_NOT_FOUND` for an unknown user, `M_FORBIDDEN` for a user they ignore or
  /// who has removed them from the room, `M_INVITE_BLOCKED`, and what creating a room throws.
  package func open(_ request: Request, by actor: Rooms.Actor) async throws -> (roomID: RoomID, isNew: Bool) {
    let (user, other) = (actor.userID, request.user)
    guard user != other else { throw MatrixError.invalidParameter("A direct room is with another user.") }
    try await rooms.directory.provideUser(other)
    return try await database.write { [self] in try open(request, by: actor, in: $0) }
  }

  /// The same inside a command, for another user whose account is there.
  package func open(
    _ request: Request, by actor: Rooms.Actor, in transaction: WriteTransaction
  ) throws -> (roomID: RoomID, isNew: Bool) {
    let (user, other) = (actor.userID, request.user)
    try rooms.requireAccount(other, in: transaction)
    if try IgnoredUsers.of(user, in: transaction).contains(other) {
      throw MatrixError.forbidden("You ignore \(other); take them off the list of ignored users first.")
    }
    if actor.isShadowBanned { return try openUnseen(request, by: actor, transaction) }
    let pair = DirectRoomLists.Pair(user, other)
    if let room = try room(of: pair, transaction) ?? listedRoom(of: user, and: other, transaction) {
      try bringBack(user, other, into: room, transaction)
      try store(room, of: pair, transaction)
      try lists.add(room.roomID, with: other, for: user, transaction)
      return (room.roomID, false)
    }
    let room = try rooms.create(request.creation, by: actor, in: transaction)
    try store(room, of: pair, transaction)
    try lists.add(room.roomID, with: other, for: user, transaction)
    return (room.roomID, true)
  }

  /// What a shadow-banned user gets: the room there is, as it is, else one without the other.
  private func openUnseen(
    _ request: Request, by actor: Rooms.Actor, _ transaction: WriteTransaction
  ) throws -> (roomID: RoomID, isNew: Bool) {
    if let room = try room(of: DirectRoomLists.Pair(actor.userID, request.user), transaction) { return (room.roomID, false) }
    let room = try rooms.create(request.creation.unseen, by: actor, in: transaction)
    try lists.add(room.roomID, with: request.user, for: actor.userID, transaction)
    return (room.roomID, true)
  }

  // MARK: Rows

  /// The pair's room, or what has replaced it; nil where nobody can come into it any more: it is deleted, closed by an
  /// administrator, empty, or replaced by one that is not here.
  private func room(of pair: DirectRoomLists.Pair, _ transaction: WriteTransaction) throws -> RoomSnapshot? {
    var roomID = try transaction.first(
      """
      SELECT r.room_id FROM direct_room d JOIN room r ON r.room = d.room WHERE d.lower_user = $1 AND d.higher_user = $2
      """, pair.lower, pair.higher
    ) { $0.identifier(0, as: RoomID.self) }
    var before: RoomSnapshot?
    for _ in 0..<Self.replacementsLimit {
      guard let id = roomID, let room = try usable(id, transaction) else { return nil }
      if let before, room[.create]?.content["predecessor"]?["room_id"]?.text != before.roomID.text { return nil }
      guard let tombstone = room[.tombstone] else { return room.joinedCount > 0 ? room : nil }
      roomID = RoomID(tombstone.content["replacement_room"])
      before = room
    }
    return nil
  }

  private func usable(_ roomID: RoomID, _ transaction: WriteTransaction) throws -> RoomSnapshot? {
    guard let room = try rooms.cache.newest(roomID, in: transaction),
      try rooms.blocker(of: roomID, in: transaction) == nil
    else { return nil }
    return room
  }

  /// A room of just these two that either of them has in `m.direct`, made before they asked here.
  private func listedRoom(
    of user: UserID, and other: UserID, _ transaction: WriteTransaction
  ) throws -> RoomSnapshot? {
    for (owner, key) in [(user, other), (other, user)] {
      guard let content = try AccountData.content(transaction, of: .direct, owner, in: nil),
        let listed = try JSON.parse(content)[key.text]
      else { continue }
      for roomID in listed.elements.prefix(Self.listedRoomsLimit).compactMap({ RoomID($0) }) {
        guard let room = try usable(roomID, transaction), room.isJoined(user), room.isJoined(other), room.joinRule != .public,
          room.joinedCount + room.invitedCount == 2, room[.tombstone] == nil
        else { continue }
        return room
      }
    }
    return nil
  }

  private func store(_ room: RoomSnapshot, of pair: DirectRoomLists.Pair, _ transaction: WriteTransaction) throws {
    try transaction.execute(
      """
      INSERT INTO direct_room(lower_user, higher_user, room) VALUES ($1, $2, $3)
      ON CONFLICT(lower_user, higher_user) DO UPDATE SET room = excluded.room
      """, pair.lower, pair.higher, room.number)
  }

  // MARK: Members

  private func bringBack(
    _ user: UserID, _ other: UserID, into room: RoomSnapshot, _ transaction: WriteTransaction
  ) throws {
    var editor = RoomEditor(room, in: transaction, of: rooms)
    switch room.membership(of: user) {
    case .join: break
    case .invite: try rooms.appendMember(.join, of: user, by: user, reason: nil, to: &editor)
    default: try rooms.readmit(user, isDirect: true, to: &editor)
    }
    switch room.membership(of: other) {
    case .join, .invite: break
    default:
      try rooms.appendMember(.invite, of: other, by: user, reason: nil, to: &editor) { $0.member("is_direct", true) }
    }
    try rooms.followReplacement(user, in: editor)
    editor.stage()
  }
}
