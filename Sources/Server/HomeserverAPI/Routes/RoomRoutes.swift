import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// Making rooms and finding them by alias.
extension Routes {
  package mutating func addRoomRoutes() {
    let (rooms, configuration) = (homeserver.rooms, homeserver.configuration)
    addAliasRoutes()

    on(.createRoom) { request, session in
      let creation = try RoomCreation(try await request.object(), defaultVersion: configuration.defaultRoomVersion)
      let roomID = try await rooms.create(creation, by: session.actor)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
  }

  private mutating func addAliasRoutes() {
    let (rooms, server) = (homeserver.rooms, homeserver.configuration.serverName)

    on(.getRoomIDByAlias) { request in
      let roomID = try await rooms.room(of: try request.path("roomAlias"))
      return .json { writer in
        writer.object { writer in
          writer.member("room_id", roomID)
          writer.key("servers")
          writer.array { $0.write(server) }
        }
      }
    }

    on(.setRoomAlias) { request, session in
      let roomID: RoomID = try await request.object().requiredIdentifier("room_id")
      try await rooms.addAlias(try request.path("roomAlias"), to: roomID, by: session.actor)
      return .emptyObject
    }

    on(.deleteRoomAlias) { request, session in
      try await rooms.removeAlias(try request.path("roomAlias"), by: session.actor)
      return .emptyObject
    }

    on(.getLocalAliases) { request, session in
      let aliases = try await rooms.aliases(
        of: try request.path("roomId"), for: session.userID, isAdministrator: session.isAdmin)
      return .json { writer in
        writer.object { writer in
          writer.array("aliases", aliases) { $1.write($0) }
        }
      }
    }
  }
}

extension Session {
  /// The device that acts, as the rooms see it.
  var actor: Rooms.Actor {
    Rooms.Actor(
      userID: userID, deviceID: deviceID, isAdministrator: isAdmin, isSuspended: standing.isSuspended,
      isShadowBanned: standing.isShadowBanned, appService: appService)
  }

  /// Who acts at a time that the query's `ts` says, where an application service asks for it.
  ///
  /// Spec: Application Service API, "Timestamp massaging". Throws `M_INVALID_PARAM`.
  func actor(at query: QueryParameters) throws -> Rooms.Actor {
    var actor = actor
    if appService != nil { actor.timestamp = try query.integer("ts", in: 0...Int64(JSON.integerMagnitudeLimit)) }
    return actor
  }
}
