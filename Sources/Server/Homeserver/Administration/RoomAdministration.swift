import Database
import JSON
import MatrixModel
import RoomRules
import ServerRooms

/// What administrators do with rooms and do not wait for.
package final class RoomAdministration: Sendable {
  package struct Deletion: Sendable {
    /// Whether nobody of this server may come into it again.
    package var blocks = false
    /// Whether it is deleted with everything in it once all are out.
    package var purges = true
    /// Stands in the members' leave events.
    package var reason: String?

    package init() {}
  }

  let rooms: Rooms
  let database: Database
  private let tasks: AdministrationTasks

  init(rooms: Rooms, tasks: AdministrationTasks, database: Database) {
    self.rooms = rooms
    self.tasks = tasks
    self.database = database
    tasks.carryOut(.deleteRoom) { [self] in try await delete($0) }
    tasks.carryOut(.purgeHistory) { [self] in try await purgeHistory($0) }
  }

  // MARK: Deletion

  /// Takes everyone out of a room and deletes it, in the background; the answer is the task's ID. Throws `M_NOT_FOUND`.
  package func startDeletion(of roomID: RoomID, _ deletion: Deletion, by administrator: Administrator) async throws -> String {
    try await requireRoom(roomID)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("block", deletion.blocks)
      writer.member("purge", deletion.purges)
      writer.member("by", administrator.userID)
      if let reason = deletion.reason { writer.member("reason", reason) }
    }
    return try await tasks.start(.deleteRoom, of: roomID.string, by: administrator, parameters: writer.bytes)
  }

  private func delete(_ task: AdministrationTask) async throws -> [UInt8] {
    let roomID = RoomID(trusted: ByteString(task.target))
    let parameters = task.parameters
    let purges = parameters["purge"]?.bool ?? true
    var users = task.result?["kicked_users"]?.elements.compactMap { $0.text } ?? []
    var aliases = task.result?["local_aliases"]?.elements.compactMap { $0.text } ?? []
    func note(_ shutdown: Rooms.Shutdown) {
      let known = (Set(users), Set(aliases))
      users += shutdown.removed.map(\.text).filter { !known.0.contains($0) }
      aliases += shutdown.aliases.map(\.text).filter { !known.1.contains($0) }
    }
    if task.cursor != Self.purging {
      // Written down before anybody goes: after an interruption in between nobody would know who went.
      note(try await rooms.plannedShutdown(of: roomID))
      try await database.write { [tasks, result = Self.result(users, aliases)] tx in
        try tasks.advance(task.id, to: Self.removing, done: 0, result: result, in: tx)
      }
      let shutdown = try await rooms.shutDown(
        roomID, blockedBy: parameters["block"]?.bool == true ? UserID(parameters["by"]) : nil,
        reason: parameters["reason"]?.string)
      note(shutdown)
    }
    let result = Self.result(users, aliases)
    guard purges else { return result }
    try await database.write { [tasks, count = users.count] tx in
      try tasks.advance(task.id, to: Self.purging, done: Int64(count), result: result, in: tx)
    }
    do { try await rooms.purge(roomID) } catch let error as MatrixError where error.code == .notFound {
      // An earlier process has begun; `resumePurges` deletes the rows it left.
      try await rooms.resumePurges()
    }
    return result
  }

  /// The cursor of a deletion while people are taken out, and once everyone is.
  private static let removing = "remove"
  private static let purging = "purge"

  private static func result(_ users: [ByteString], _ aliases: [ByteString]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.array("kicked_users", users) { $1.write($0) }
      writer.key("failed_to_kick_users")
      writer.array { _ in }
      writer.array("local_aliases", aliases) { $1.write($0) }
      writer.key("new_room_id")
      writer.null()
    }
    return writer.bytes
  }

  // MARK: History

  /// Deletes what was sent before an event or a time (milliseconds since 1970), in the background; the answer is the task's ID.
  ///
  /// Throws `M_NOT_FOUND` where there is no such room, or no such event in it.
  package func startPurge(of roomID: RoomID, before end: Rooms.HistoryEnd, by administrator: Administrator) async throws
    -> String
  {
    try await requireRoom(roomID)
    let position = try await rooms.position(of: end, in: roomID)
    var writer = JSONWriter()
    writer.object { $0.member("before", position) }
    return try await tasks.start(.purgeHistory, of: roomID.string, by: administrator, parameters: writer.bytes)
  }

  private func purgeHistory(_ task: AdministrationTask) async throws -> [UInt8] {
    let count = try await rooms.purgeHistory(
      of: RoomID(trusted: ByteString(task.target)), before: .position(task.parameters["before"]?.integer ?? 0))
    var writer = JSONWriter()
    writer.object { $0.member("deleted", count) }
    return writer.bytes
  }

  private func requireRoom(_ roomID: RoomID) async throws { _ = try await snapshot(of: roomID) }

  func snapshot(of roomID: RoomID) async throws -> RoomSnapshot {
    guard let room = try await database.read({ [rooms] in try rooms.cache.snapshot(of: roomID, in: $0) }) else {
      throw MatrixError.notFound("There is no such room on this server.")
    }
    return room
  }

  // MARK: Messages

  /// Redacts an event, in the name of its sender or, if they have left, of the most powerful member of this server who may.
  ///
  /// Throws `M_NOT_FOUND` where there is no such event in the room, `M_FORBIDDEN` where nobody in the room may remove it.
  package func remove(_ eventID: EventID, in roomID: RoomID, reason: ByteString?, of server: ServerName) async throws {
    let room = try await snapshot(of: roomID)
    guard let event = try await event(eventID), event.room == room.number else {
      throw MatrixError.notFound("There is no such event in this room.")
    }
    let levels = room.powerLevels
    let powerful = room.joinedUsers.filter { $0.serverName == server }
      .max { (levels.level(of: $0), $1) < (levels.level(of: $1), $0) }
    guard let remover = room.isJoined(event.sender) ? event.sender : powerful else {
      throw MatrixError.forbidden("Nobody in this room can remove the message.")
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("redacts", eventID)
      if let reason { writer.member("reason", reason) }
    }
    let content = try JSON.parse(writer.bytes)
    let actor = Rooms.Actor(userID: remover, deviceID: nil)
    try await rooms.edit(roomID, by: actor) { [rooms] editor in
      _ = try rooms.append(Rooms.Sending(type: .redaction, content: content), by: actor, to: &editor)
    }
  }

  // MARK: Members

  /// Has a user join a room, invited by a member who may where that is needed. Throws `M_FORBIDDEN`, `M_NOT_FOUND`.
  package func join(_ user: UserID, _ roomID: RoomID) async throws {
    try await requireRoom(roomID)
    try await inviteIfNeeded(user, to: roomID)
    try await rooms.join(roomID, by: Rooms.Actor(userID: user, deviceID: nil))
  }

  private func inviteIfNeeded(_ user: UserID, to roomID: RoomID) async throws {
    try await rooms.edit(roomID) { [rooms] editor in
      try rooms.requireAccount(user, in: editor.transaction)
      let room = editor.room
      guard room.joinRule != .public, !room.isJoined(user), room.membership(of: user) != .invite else { return }
      let levels = room.powerLevels
      let inviter = room.joinedUsers.filter { $0.serverName == user.serverName && levels.canInvite(by: $0) }
        .max { (levels.level(of: $0), $1) < (levels.level(of: $1), $0) }
      guard let inviter else { throw MatrixError.forbidden("Nobody in this room can invite the user.") }
      try rooms.appendMember(.invite, of: user, by: inviter, reason: nil, to: &editor)
    }
  }

  /// Gives a user as much power in a room as its most powerful member of this server has, and lets them in if they are out.
  ///
  /// Throws `M_FORBIDDEN` where no member can give it, `M_NOT_FOUND`.
  package func makeAdministrator(_ user: UserID, of roomID: RoomID) async throws {
    try await requireRoom(roomID)
    try await rooms.edit(roomID) { [rooms] editor in
      try rooms.requireAccount(user, in: editor.transaction)
      let levels = editor.room.powerLevels
      let giver = editor.room.joinedUsers.filter { member in
        member.serverName == user.serverName && levels.canSend(.powerLevels, isState: true, by: member)
      }.max { (levels.level(of: $0), $1) < (levels.level(of: $1), $0) }
      guard let giver else { throw MatrixError.forbidden("No member of this room can give power to others.") }
      guard levels.level(of: user) < levels.level(of: giver) else { return }
      let needed = max(levels.required(for: .powerLevels, isState: true).value, 100)
      let level = levels.level(of: giver).isCreator ? needed : levels.level(of: giver).value
      let content = try Self.granting(level, to: user, in: editor.room[.powerLevels]?.content)
      try editor.append(RoomEditor.Draft(type: .powerLevels, sender: giver, stateKey: "", content: content))
    }
    try await inviteIfNeeded(user, to: roomID)
  }

  private static func granting(_ level: Int64, to user: UserID, in content: JSON?) throws -> JSON {
    let users = content?["users"]
    return try (content ?? JSON.object { _ in }).replacing(["users"]) { writer in
      writer.key("users")
      writer.object { writer in
        for member in users?.members.map({ $0 }) ?? [] where member.key != user.text {
          writer.key(member.key)
          writer.write(member.value)
        }
        writer.key(user)
        writer.write(level)
      }
    }
  }
}
