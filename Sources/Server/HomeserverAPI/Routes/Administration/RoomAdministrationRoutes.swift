import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerRooms

/// Rooms, whatever their members may: listed, looked into, blocked, joined.
extension Routes {
  mutating func addRoomAdministrationRoutes() {
    addRoomListRoute()
    addRoomReadingRoutes()
    addRoomBlockRoutes()
    addRoomJoiningRoutes()
  }

  private mutating func addRoomListRoute() {
    let administration = homeserver.roomAdministration

    onAdmin(.get, Self.administration + "/v1/rooms") { request, _ in
      let query = try RoomQuery(try request.query())
      let page = try await administration.list(query)
      return .json(capacity: page.rooms.count * 512 + 64) { writer in
        writer.object { writer in
          writer.list("rooms", page.rooms) { $0.writeMembers(to: &$1) }
          writer.member("offset", query.offset)
          writer.member("total_rooms", page.total)
          writer.next("next_batch", after: page.rooms.count, from: query.offset, of: page.total)
          if query.offset > 0 { writer.member("prev_batch", max(0, query.offset - Int64(query.limit))) }
        }
      }
    }
  }

  private mutating func addRoomReadingRoutes() {
    let (administration, rooms) = (homeserver.roomAdministration, homeserver.rooms)
    let clock = homeserver.configuration.clock
    let path = Self.administration + "/v1/rooms/{roomId}"

    onAdmin(.get, path) { request, _ in
      let roomID: RoomID = try request.path("roomId")
      let (room, devices) = try await administration.room(roomID)
      let isForgotten = try await rooms.isForgottenByAll(roomID)
      return .json(capacity: 1_024) { writer in
        writer.object { writer in
          room.writeMembers(to: &writer)
          writer.member("topic", orNull: room.topic)
          writer.member("avatar", orNull: room.avatar)
          writer.member("joined_local_devices", devices)
          writer.member("forgotten", isForgotten)
        }
      }
    }

    onAdmin(.get, path + "/members") { request, _ in
      let members = try await administration.members(of: try request.path("roomId"))
      return .json(capacity: members.count * 48 + 64) { writer in
        writer.object { writer in
          writer.array("members", members) { $1.write($0) }
          writer.member("total", members.count)
        }
      }
    }

    onAdmin(.get, path + "/state") { request, administrator in
      let roomID: RoomID = try request.path("roomId")
      let state = try await administration.state(of: roomID, type: try request.query().identifier("type"))
      let reader = EventReader(userID: administrator.userID, deviceID: nil, now: clock.now())
      return .json(capacity: state.count * 512 + 64) { writer in
        writer.object { writer in
          writer.array("state", state) { $0.write(to: &$1, for: reader, roomID: roomID) }
        }
      }
    }
  }

  private mutating func addRoomBlockRoutes() {
    let (rooms, audit) = (homeserver.rooms, homeserver.audit)
    let path = Self.administration + "/v1/rooms/{roomId}/block"

    onAdmin(.get, path) { request, _ in
      let blocker = try await rooms.blocker(of: try request.path("roomId"))
      return .json { writer in
        writer.object { writer in
          writer.member("block", blocker != nil)
          if let blocker { writer.member("user_id", blocker) }
        }
      }
    }

    onAdmin(.put, path) { request, administrator in
      let roomID: RoomID = try request.path("roomId")
      let blocks = try await request.object().requiredBool("block")
      try await audit.record(blocks ? "room.block" : "room.unblock", of: roomID.string, by: administrator) {
        if blocks { try await rooms.block(roomID, by: administrator.userID) } else { try await rooms.unblock(roomID) }
      }
      return .json { $0.object { $0.member("block", blocks) } }
    }
  }

  private mutating func addRoomJoiningRoutes() {
    let (administration, rooms, audit) = (homeserver.roomAdministration, homeserver.rooms, homeserver.audit)
    let server = homeserver.configuration.serverName

    onAdmin(.post, Self.administration + "/v1/rooms/{roomIdOrAlias}/make_room_admin") { request, administrator in
      let roomID = try await request.roomIDOrAlias(rooms)
      let named: UserID? = try await request.optionalObject().optionalIdentifier("user_id")
      guard let userID = named ?? administrator.caller else { throw MatrixError.missingParameter("user_id") }
      try userID.requireLocal(to: server)
      try await audit.record(
        "room.make_administrator", of: roomID.string, by: administrator, details: { $0.member("user_id", userID) }
      ) { try await administration.makeAdministrator(userID, of: roomID) }
      return .emptyObject
    }

    onAdmin(.post, Self.administration + "/v1/join/{roomIdOrAlias}") { request, administrator in
      let roomID = try await request.roomIDOrAlias(rooms)
      let userID: UserID = try await request.object().requiredIdentifier("user_id")
      try userID.requireLocal(to: server)
      try await audit.record(
        "room.join", of: roomID.string, by: administrator, details: { $0.member("user_id", userID) }
      ) { try await administration.join(userID, roomID) }
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
  }
}

extension Administrator {
  /// The user who asks; nil for the operator.
  fileprivate var caller: UserID? {
    if case .user(let userID) = self { userID } else { nil }
  }
}

extension RoomQuery {
  /// Throws `M_INVALID_PARAM`.
  fileprivate init(_ parameters: QueryParameters) throws {
    self.init()
    search = parameters.text("search_term")
    if let search, search.isEmpty { throw MatrixError.invalidParameter("'search_term' is not empty.") }
    isPublic = try parameters.bool("public_rooms")
    isEmpty = try parameters.bool("empty_rooms")
    offset = try parameters.offset()
    limit = min(try parameters.limit(), Self.limitRange.upperBound)
    isReversed = try parameters.isBackwards()
    guard let name = parameters.text("order_by") else { return }
    guard let order = Order(rawValue: name.string) else {
      throw MatrixError.invalidParameter("'order_by' is not an order that rooms can be listed in.")
    }
    self.order = order
  }
}

extension RoomOverview {
  fileprivate func writeMembers(to writer: inout JSONWriter) {
    writer.member("room_id", roomID)
    writer.member("name", orNull: name)
    writer.member("canonical_alias", orNull: canonicalAlias)
    writer.member("joined_members", joined)
    writer.member("joined_local_members", joinedHere)
    writer.member("version", version)
    writer.member("creator", orNull: creator)
    writer.member("encryption", orNull: encryption)
    writer.member("federatable", isFederated)
    writer.member("public", isPublic)
    writer.member("join_rules", orNull: joinRule)
    writer.member("guest_access", orNull: guestAccess)
    writer.member("history_visibility", orNull: historyVisibility)
    writer.member("state_events", stateEvents)
    writer.member("room_type", orNull: roomType)
  }
}
