import Database
import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// The room an alias of this server points to. Spec: `GET /directory/room/{roomAlias}`. Throws `M_NOT_FOUND`.
  package func room(of alias: RoomAlias) async throws -> RoomID {
    let roomID = try await database.read { transaction in
      try self.room(of: alias, in: transaction).flatMap { try self.cache.snapshot(of: $0, in: transaction)?.roomID }
    }
    guard let roomID else { throw MatrixError.notFound("There is no room with the alias \(alias).") }
    return roomID
  }

  /// Spec: `PUT /directory/room/{roomAlias}`. Throws `M_FORBIDDEN`, `M_INVALID_PARAM`, `M_UNKNOWN` (409) for a taken alias.
  package func addAlias(_ alias: RoomAlias, to roomID: RoomID, by actor: Actor) async throws {
    try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction), room.isJoined(actor.userID) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      guard try self.room(of: alias, in: transaction) == nil else {
        throw MatrixError.unknown(status: 409, "The alias \(alias) is taken.")
      }
      try self.insert(alias, of: room.number, by: actor.userID, in: transaction)
    }
  }

  /// Spec: `DELETE /directory/room/{roomAlias}`. Its creator may, and who may set the room's canonical alias.
  package func removeAlias(_ alias: RoomAlias, by actor: Actor) async throws {
    try await database.write { transaction in
      let row = try transaction.first("SELECT room, creator FROM room_alias WHERE alias = $1", alias) {
        (RoomNumber($0.integer(0)), $0.identifier(1, as: UserID.self))
      }
      guard let (number, creator) = row, let room = try self.newest(number, in: transaction) else {
        throw MatrixError.notFound("There is no room with the alias \(alias).")
      }
      let mayChange =
        room.isJoined(actor.userID)
        && room.powerLevels.canSend(.canonicalAlias, isState: true, by: actor.userID)
      guard creator == actor.userID || mayChange else {
        throw MatrixError.forbidden("You may not remove this alias.")
      }
      try transaction.execute("DELETE FROM room_alias WHERE alias = $1", alias)
    }
  }

  /// Spec: `GET /rooms/{roomId}/aliases`. Throws `M_FORBIDDEN`.
  package func aliases(of roomID: RoomID, for user: UserID) async throws -> [RoomAlias] {
    try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      return try transaction.all("SELECT alias FROM room_alias WHERE room = $1 ORDER BY alias", view.room.number) {
        $0.identifier(0)
      }
    }
  }

  // MARK: For commands

  func room(of alias: RoomAlias, in transaction: ReadTransaction) throws -> RoomNumber? {
    try transaction.first("SELECT room FROM room_alias WHERE alias = $1", alias) { RoomNumber($0.integer(0)) }
  }

  /// Throws `M_INVALID_PARAM` for an alias of another server.
  func insert(_ alias: RoomAlias, of room: RoomNumber, by user: UserID, in transaction: WriteTransaction) throws {
    guard alias.serverName == configuration.serverName else {
      throw MatrixError.invalidParameter("Aliases made here end in ':\(configuration.serverName)'.")
    }
    guard !alias.localpart.isEmpty else { throw MatrixError.invalidParameter("There is nothing between '#' and ':'.") }
    try transaction.execute(
      "INSERT INTO room_alias(alias, room, creator, created) VALUES ($1, $2, $3, $4)", alias, room, user,
      configuration.clock.now())
  }

  /// New aliases of an `m.room.canonical_alias` must point to the room. Spec: "Canonical aliases"; `M_BAD_ALIAS`.
  func checkAliases(of content: JSON, in editor: RoomEditor) throws {
    let known = Self.aliases(in: editor.room[.canonicalAlias]?.content)
    var named: [ByteString] = []
    if let alias = content["alias"], !alias.isNull {
      guard let text = alias.text else { throw MatrixError.invalidParameter("'alias' is a string.") }
      if !text.isEmpty { named.append(text) }
    }
    for element in content["alt_aliases"]?.elements.map({ $0 }) ?? [] {
      guard let text = element.text else { throw MatrixError.invalidParameter("'alt_aliases' is a list of strings.") }
      named.append(text)
    }
    for name in named where !known.contains(name) {
      guard let alias = RoomAlias(name) else { throw MatrixError.invalidParameter("'\(name)' is not a room alias.") }
      guard try room(of: alias, in: editor.transaction) == editor.room.number else {
        throw MatrixError(status: 400, .badAlias, "The alias \(alias) does not point to this room.")
      }
    }
  }

  private static func aliases(in content: JSON?) -> Set<ByteString> {
    var aliases = Set(content?["alt_aliases"]?.elements.compactMap(\.text) ?? [])
    if let alias = content?["alias"]?.text { aliases.insert(alias) }
    return aliases
  }

  private func newest(_ number: RoomNumber, in transaction: WriteTransaction) throws -> RoomSnapshot? {
    guard let roomID = try cache.snapshot(of: number, in: transaction)?.roomID else { return nil }
    return try cache.newest(roomID, in: transaction)
  }
}
