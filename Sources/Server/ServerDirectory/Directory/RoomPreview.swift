import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore
import ServerRooms

/// What a room shows of itself in lists and to those who think of joining.
///
/// Spec: Client-Server API, `PublishedRoomsChunk` and `RoomSummary`.
package struct RoomPreview: Sendable {
  package let room: RoomSnapshot

  init(of room: RoomSnapshot) { self.room = room }

  package var name: ByteString? { text(.name, "name") }
  package var avatarURL: ByteString? { text(.avatar, "url") }
  package var type: ByteString? { room[.create]?.content["type"]?.text }
  package var isSpace: Bool { room[.create]?.content["type"]?.isString("m.space") ?? false }
  package var canonicalAlias: RoomAlias? { RoomAlias(room[.canonicalAlias]?.content["alias"]) }

  /// The plain text of the topic. Spec: `m.room.topic`.
  package var topic: ByteString? {
    guard let content = room[.topic]?.content else { return nil }
    guard let texts = content["m.topic"]?["m.text"], texts.isArray else { return text(.topic, "topic") }
    let plain = texts.elements.first { $0["mimetype"] == nil || $0["mimetype"]?.isString("text/plain") ?? false }
    return plain?["body"]?.text.flatMap { $0.isEmpty ? nil : $0 }
  }

  package var isWorldReadable: Bool { room.historyVisibility == .worldReadable }
  package var guestsCanJoin: Bool { room[.guestAccess]?.content["guest_access"]?.isString("can_join") ?? false }

  /// The rooms whose members may join without an invitation.
  package var allowedRooms: [RoomID] {
    guard room.joinRule?.allowsRestrictedJoins ?? false else { return [] }
    return room[.joinRules]?.content["allow"]?.elements.compactMap { condition in
      condition["type"]?.isString("m.room_membership") ?? false ? RoomID(condition["room_id"]) : nil
    } ?? []
  }

  // MARK: Who may see it

  /// Whether anyone may, with or without an account.
  package var isOpenToAnyone: Bool {
    room.joinRule == .public || room.joinRule?.allowsKnocking ?? false || isWorldReadable
  }

  /// Whether `user` may: who is in the room or may join it, ask to be let in, or read it.
  ///
  /// Spec: `GET /rooms/{roomId}/hierarchy`, the conditions of `rooms`.
  func isAccessible(to user: UserID, in transaction: ReadTransaction, of rooms: Rooms) throws -> Bool {
    switch room.membership(of: user) {
    case .join, .invite: return true
    case .ban: return isWorldReadable
    default: break
    }
    if isOpenToAnyone { return true }
    let allowed = allowedRooms.prefix(Self.allowedRoomsLimit)
    guard !allowed.isEmpty else { return false }
    let memberships = try rooms.memberships.rooms(of: user, in: transaction)
    return try allowed.contains { roomID in
      // Its number alone: a room that lets in those of a thousand rooms must not have all of them loaded.
      let number =
        try rooms.cache.cachedSnapshot(of: roomID)?.number
        ?? transaction.first("SELECT room FROM room WHERE room_id = $1", roomID) { RoomNumber($0.integer(0)) }
      return number.flatMap { memberships[$0]?.membership } == .join
    }
  }

  /// Conditions of one room that are looked at for whether it may be seen.
  static let allowedRoomsLimit = 100

  // MARK: JSON

  /// Writes the members of a `PublishedRoomsChunk` but for the number of members.
  func writeListing(to writer: inout JSONWriter) {
    writer.member("room_id", room.roomID)
    if let name { writer.member("name", name) }
    if let topic { writer.member("topic", topic) }
    if let canonicalAlias { writer.member("canonical_alias", canonicalAlias) }
    if let avatarURL { writer.member("avatar_url", avatarURL) }
    if let rule = room.joinRule { writer.member("join_rule", rule.name.description) }
    if let type { writer.member("room_type", type) }
    writer.member("world_readable", isWorldReadable)
    writer.member("guest_can_join", guestsCanJoin)
  }

  /// Writes the members of a `RoomSummary`.
  package func writeSummary(to writer: inout JSONWriter) {
    writeListing(to: &writer)
    writer.member("num_joined_members", room.joinedCount)
    writer.member("room_version", room.version.name)
    if let algorithm = room[.encryption]?.content["algorithm"]?.text { writer.member("encryption", algorithm) }
    let allowed = allowedRooms
    guard !allowed.isEmpty else { return }
    writer.array("allowed_room_ids", allowed) { $1.write($0) }
  }

  /// What a search of the room list looks through, in lower case.
  var searchText: String {
    var parts = [name, topic, canonicalAlias?.text].compactMap { $0?.string }
    parts += room[.canonicalAlias]?.content["alt_aliases"]?.elements.compactMap(\.string) ?? []
    return parts.joined(separator: "\n").lowercased()
  }

  private func text(_ type: EventType, _ key: StaticString) -> ByteString? {
    room[type]?.content[key]?.text.flatMap { $0.isEmpty ? nil : $0 }
  }
}
