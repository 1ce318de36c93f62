import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore

extension Rooms {
  /// The room an alias of this server points to. Spec: `GET /directory/room/{roomAlias}`. Throws `M_NOT_FOUND`.
  package func room(of alias: RoomAlias) async throws -> RoomID {
    if let roomID = try await knownRoom(of: alias) { return roomID }
    if try await directory.provideRoom(alias), let roomID = try await knownRoom(of: alias) { return roomID }
    throw MatrixError.notFound("There is no room with the alias \(alias).")
  }

  private func knownRoom(of alias: RoomAlias) async throws -> RoomID? {
    try await database.read { transaction in
      try self.room(of: alias, in: transaction).flatMap { try self.cache.snapshot(of: $0, in: transaction)?.roomID }
    }
  }

  /// Aliases that a room may have, and that a user may have made; application services make those of whole networks.
  package static let aliasesLimit = 1_000
  package static let userAliasesLimit = 1_000

  /// Gives a room an alias. A member may, an administrator, and for an alias that is its alone an application service.
  ///
  /// Spec: `PUT /directory/room/{roomAlias}`. Throws `M_FORBIDDEN`, `M_INVALID_PARAM`, `M_UNKNOWN` (409) for a taken alias.
  package func addAlias(_ alias: RoomAlias, to roomID: RoomID, by actor: Actor) async throws {
    try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction),
        room.isJoined(actor.userID) || actor.isAdministrator || self.directory.isReserved(alias, for: actor)
      else { throw MatrixError.forbidden("You are not in this room.") }
      guard try self.room(of: alias, in: transaction) == nil else {
        throw MatrixError.unknown(status: 409, "The alias \(alias) is taken.")
      }
      let count = try transaction.first("SELECT count(*) FROM room_alias WHERE room = $1", room.number) { $0.integer(0) }
      guard count ?? 0 < Self.aliasesLimit else {
        throw MatrixError.forbidden("The room has \(Self.aliasesLimit) aliases; remove one first.")
      }
      try self.insert(alias, of: room.number, by: actor, in: transaction)
    }
  }

  /// Removes an alias. Its creator may, a member who may set the room's canonical alias, an administrator, and the application
  /// service whose alone it is. The room's state no longer names it either, if the user may say so.
  ///
  /// Spec: `DELETE /directory/room/{roomAlias}`. Throws `M_FORBIDDEN`, `M_NOT_FOUND`.
  package func removeAlias(_ alias: RoomAlias, by actor: Actor) async throws {
    try directory.requireMayChange(alias, by: actor)
    try await database.write { transaction in
      let row = try transaction.first("SELECT room, creator FROM room_alias WHERE alias = $1", alias) {
        (RoomNumber($0.integer(0)), $0.identifier(1, as: UserID.self))
      }
      guard let (number, creator) = row, let room = try self.newest(number, in: transaction) else {
        throw MatrixError.notFound("There is no room with the alias \(alias).")
      }
      let mayChange = room.canSetAddress(actor.userID)
      guard creator == actor.userID || mayChange || actor.isAdministrator || self.directory.isReserved(alias, for: actor)
      else {
        throw MatrixError.forbidden("An alias is removed by who made it or who may set the room's main address.")
      }
      try transaction.execute("DELETE FROM room_alias WHERE alias = $1", alias)
      guard mayChange, let content = try Self.content(of: room[.canonicalAlias]?.content, without: alias) else { return }
      var editor = RoomEditor(room, in: transaction, of: self)
      try editor.append(
        RoomEditor.Draft(type: .canonicalAlias, sender: actor.userID, stateKey: "", content: content))
      editor.stage()
    }
  }

  /// For who is in the room, anyone where its history is the world's to read, and administrators.
  ///
  /// Spec: `GET /rooms/{roomId}/aliases`. Throws `M_FORBIDDEN`.
  package func aliases(of roomID: RoomID, for user: UserID, isAdministrator: Bool = false) async throws -> [RoomAlias] {
    try await database.read { transaction in
      guard let room = try self.cache.snapshot(of: roomID, in: transaction),
        room.isJoined(user) || room.historyVisibility == .worldReadable || isAdministrator
      else { throw MatrixError.forbidden("You are not in this room.") }
      return try transaction.all("SELECT alias FROM room_alias WHERE room = $1 ORDER BY alias", room.number) {
        $0.identifier(0)
      }
    }
  }

  // MARK: For commands

  func room(of alias: RoomAlias, in transaction: ReadTransaction) throws -> RoomNumber? {
    try transaction.first("SELECT room FROM room_alias WHERE alias = $1", alias) { RoomNumber($0.integer(0)) }
  }

  /// Throws `M_INVALID_PARAM` for an alias of another server, `M_EXCLUSIVE` for one of an application service, `M_FORBIDDEN` beyond
  /// `userAliasesLimit`.
  func insert(_ alias: RoomAlias, of room: RoomNumber, by actor: Actor, in transaction: WriteTransaction) throws {
    guard alias.serverName == configuration.serverName else {
      throw MatrixError.invalidParameter("Aliases made here end in ':\(configuration.serverName)'.")
    }
    guard !alias.localpart.isEmpty else { throw MatrixError.invalidParameter("There is nothing between '#' and ':'.") }
    try directory.requireMayChange(alias, by: actor)
    if actor.appService == nil {
      let count = try transaction.first("SELECT count(*) FROM room_alias WHERE creator = $1", actor.userID) { $0.integer(0) }
      guard count ?? 0 < Self.userAliasesLimit else {
        throw MatrixError.forbidden("You have made \(Self.userAliasesLimit) aliases; remove one first.")
      }
    }
    try transaction.execute(
      "INSERT INTO room_alias(alias, room, creator, created) VALUES ($1, $2, $3, $4)", alias, room, actor.userID,
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

  /// The content of an `m.room.canonical_alias` that no longer names `alias`; nil where it does not name it.
  private static func content(of content: JSON?, without alias: RoomAlias) throws -> JSON? {
    guard let content, aliases(in: content).contains(alias.text) else { return nil }
    return try content.replacing(["alias", "alt_aliases"]) { writer in
      if let main = content["alias"]?.text, main != alias.text { writer.member("alias", main) }
      let others = content["alt_aliases"]?.elements.compactMap(\.text).filter { $0 != alias.text } ?? []
      guard !others.isEmpty else { return }
      writer.array("alt_aliases", others) { $1.write($0) }
    }
  }

  private func newest(_ number: RoomNumber, in transaction: WriteTransaction) throws -> RoomSnapshot? {
    guard let roomID = try cache.snapshot(of: number, in: transaction)?.roomID else { return nil }
    return try cache.newest(roomID, in: transaction)
  }
}
