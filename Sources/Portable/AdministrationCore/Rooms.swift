import JSON
import MatrixModel
import ServerQueries

/// A room as administrators see it, whether they are in it or not.
package struct AdministeredRoom: Listed, Hashable {
  package let id: RoomID
  package let name: ByteString?
  package let alias: ByteString?
  package let topic: ByteString?
  package let creator: ByteString?
  package let members: Int64
  package let isEncrypted: Bool
  package let isPublic: Bool
  package let isSpace: Bool
  package let version: ByteString

  package var key: ByteString { id.text }

  init?(_ json: JSON) {
    guard let id = RoomID(json["room_id"]) else { return nil }
    self.id = id
    name = json.text("name")
    alias = json.text("canonical_alias")
    topic = json.text("topic")
    creator = json.text("creator")
    members = json.integer("joined_members") ?? 0
    isEncrypted = json.text("encryption") != nil
    isPublic = json.bool("public") ?? false
    isSpace = json["room_type"]?.isString("m.space") ?? false
    version = json.text("version") ?? ""
  }
}

package enum RoomOrder: Sendable, CaseIterable {
  case name, members

  package var name: StaticString {
    switch self {
    case .name: "name"
    case .members: "joined_members"
    }
  }
}

/// How far something is that goes on at the server after its request was answered.
package struct TaskProgress: Sendable, Hashable {
  package enum State: Sendable, Hashable { case active, complete, failed }

  package let state: State
  /// `done` of `total`; 0 if nobody knows how much there is.
  package var done: Int64 = 0
  package var total: Int64 = 0
  /// Why it failed, in the server's words.
  package let error: ByteString

  init?(_ json: JSON) {
    guard let status = json["status"] else { return nil }
    state = status.isString("complete") ? .complete : status.isString("failed") ? .failed : .active
    error = json.text("error") ?? ""
    done = json.integer("reached") ?? json["shutdown_room"]?["kicked_users"].map { Int64($0.count) } ?? 0
    total = json.integer("total") ?? 0
  }
}

extension Endpoint {
  fileprivate static let rooms = Endpoint(.get, "/_synapse/admin/v1/rooms", .administrator, rateLimited: true)
  fileprivate static let room = Endpoint(.get, "/_synapse/admin/v1/rooms/{roomId}", .administrator, rateLimited: true)
  fileprivate static let members = Endpoint(
    .get, "/_synapse/admin/v1/rooms/{roomId}/members", .administrator, rateLimited: true)
  fileprivate static let isBlocked = Endpoint(
    .get, "/_synapse/admin/v1/rooms/{roomId}/block", .administrator, rateLimited: true)
  fileprivate static let block = Endpoint(.put, "/_synapse/admin/v1/rooms/{roomId}/block", .administrator, rateLimited: true)
  fileprivate static let deleteRoom = Endpoint(.delete, "/_synapse/admin/v2/rooms/{roomId}", .administrator, rateLimited: true)
  fileprivate static let deletion = Endpoint(
    .get, "/_synapse/admin/v2/rooms/delete_status/{deleteId}", .administrator, rateLimited: true)
  fileprivate static let purge = Endpoint(
    .post, "/_synapse/admin/v1/purge_history/{roomId}", .administrator, rateLimited: true)
  fileprivate static let purgeStatus = Endpoint(
    .get, "/_synapse/admin/v1/purge_history_status/{purgeId}", .administrator, rateLimited: true)
  fileprivate static let makeAdministrator = Endpoint(
    .post, "/_synapse/admin/v1/rooms/{roomId}/make_room_admin", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  /// - Parameter search: in names and main addresses, or in IDs.
  package static func administeredRooms(
    matching search: ByteString, _ order: RoomOrder, from: Int64?, limit: Int
  ) -> Query<PagedList<AdministeredRoom>.Page> {
    let parameters = URLQuery().adding("search_term", search.isEmpty ? nil : search).adding("limit", limit).adding("from", from)
      .adding("order_by", ByteString(order.name.description))
    return Query<PagedList<AdministeredRoom>.Page>(.rooms, Endpoint.rooms.path(), parameters: parameters) { json in
      json.page("rooms", from: from, total: "total_rooms") { AdministeredRoom($0) }
    }
  }

  package static func administeredRoom(_ room: RoomID) -> Query<AdministeredRoom> {
    Query<AdministeredRoom>(.room, Endpoint.room.path(room.text)) { AdministeredRoom($0) }
  }

  package static func administeredMembers(of room: RoomID) -> Query<[UserID]> {
    Query<[UserID]>(.members, Endpoint.members.path(room.text)) { json in
      json["members"]?.elements.compactMap { UserID($0) }
    }
  }

  package static func isBlocked(_ room: RoomID) -> Query<Bool> {
    Query<Bool>(.isBlocked, Endpoint.isBlocked.path(room.text)) { $0.bool("block") }
  }

  package static func block(_ room: RoomID, _ isBlocked: Bool) -> Query<Void> {
    Query<Void>(.block, Endpoint.block.path(room.text), body: JSONWriter.object { $0.member("block", isBlocked) })
  }

  /// Takes everyone out and deletes what is in it. The answer is the deletion's ID.
  package static func delete(_ room: RoomID, blocks: Bool, reason: ByteString) -> Query<ByteString> {
    let body = JSONWriter.object { writer in
      writer.member("block", blocks)
      writer.member("purge", true)
      if !reason.isEmpty { writer.member("message", reason) }
    }
    return Query<ByteString>(.deleteRoom, Endpoint.deleteRoom.path(room.text), body: body) { $0.text("delete_id") }
  }

  package static func deletion(_ id: ByteString) -> Query<TaskProgress> {
    Query<TaskProgress>(.deletion, Endpoint.deletion.path(id)) { TaskProgress($0) }
  }

  /// Deletes what was sent before a time in milliseconds since 1970. The answer is the purge's ID.
  package static func purgeHistory(of room: RoomID, before time: Int64) -> Query<ByteString> {
    let body = JSONWriter.object { writer in
      writer.member("delete_local_events", true)
      writer.member("purge_up_to_ts", time)
    }
    return Query<ByteString>(.purge, Endpoint.purge.path(room.text), body: body) { $0.text("purge_id") }
  }

  package static func purge(_ id: ByteString) -> Query<TaskProgress> {
    Query<TaskProgress>(.purgeStatus, Endpoint.purgeStatus.path(id)) { TaskProgress($0) }
  }

  /// Gives a user of this server as much power in the room as its most powerful member has, and invites them if they are out.
  package static func makeRoomAdministrator(_ user: UserID, of room: RoomID) -> Query<Void> {
    Query<Void>(
      .makeAdministrator, Endpoint.makeAdministrator.path(room.text), body: JSONWriter.object { $0.member("user_id", user) })
  }
}
