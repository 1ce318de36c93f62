import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms

/// Ours: the one room of two users, coming back into rooms, inviting and leaving in bulk.
extension Routes {
  mutating func addDirectRoomRoutes() {
    let (rooms, direct) = (homeserver.rooms, homeserver.directRooms)

    on(.openDirectRoom) { request, session in
      let wanted = try DirectRooms.Request(try await request.object(), defaultVersion: direct.defaultVersion)
      let (roomID, isNew) = try await direct.open(wanted, by: session.actor)
      return .json { writer in
        writer.object { writer in
          writer.member("room_id", roomID)
          writer.member("created", isNew)
        }
      }
    }

    on(.rejoinRoom) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let reason = try await request.optionalObject().optionalText("reason")?.string
      try await rooms.rejoin(roomID, by: session.actor, reason: reason)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
  }

  mutating func addBulkRoutes() {
    let (rooms, leaves) = (homeserver.rooms, homeserver.bulkLeaves)

    on(.inviteUsers) { request, session in
      let body = try await request.object()
      let roomID: RoomID = try body.requiredIdentifier("room_id")
      let users: [UserID] = try body.requiredIdentifiers("user_ids", limit: Rooms.bulkInviteLimit)
      let results = try await rooms.invite(
        users, to: roomID, by: session.actor, reason: try body.optionalText("reason")?.string)
      return .json { Self.write(results, to: &$0) }
    }

    on(.leaveRooms) { request, session in
      let body = try await request.object()
      let all = try body.optionalBool("all") ?? false
      let named: [RoomID]? =
        body.given("room_ids") == nil ? nil : try body.requiredIdentifiers("room_ids", limit: BulkLeaves.roomsLimit)
      guard all != (named != nil) else { throw MatrixError.invalidParameter("Give either 'room_ids' or 'all': true.") }
      let reason = session.actor.heard(try body.optionalText("reason")?.string)
      let progress = try await leaves.leave(named, of: session.userID, reason: reason)
      return .json { Self.write(progress, to: &$0) }
    }

    on(.getBulkJob) { request, session in
      let progress = try await leaves.progress(of: try request.path("job"), session.userID)
      return .json { Self.write(progress, to: &$0) }
    }
  }

  private static func write(_ results: [Rooms.InvitationResult], to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("invited")
      writer.array { writer in for result in results where result.error == nil { writer.write(result.user) } }
      writer.key("errors")
      writer.object { writer in
        for result in results {
          guard let error = result.error else { continue }
          writer.key(result.user)
          error.write(to: &writer)
        }
      }
    }
  }

  private static func write(_ progress: BulkLeaves.Progress, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("job", progress.id)
      writer.member("state", progress.isFinished ? "finished" : "running")
      writer.member("total", progress.total)
      writer.member("done", progress.done)
      writer.key("errors")
      writer.object { writer in
        for (roomID, error) in progress.errors {
          writer.key(roomID)
          writer.raw(error)
        }
      }
    }
  }
}

extension JSON {
  /// A list of identifiers, each once. Throws `M_MISSING_PARAM`, `M_INVALID_PARAM`, `M_TOO_LARGE` for more than `limit`.
  fileprivate func requiredIdentifiers<ID: Identifier>(_ key: StaticString, limit: Int) throws -> [ID] {
    let list = try requiredArray(key)
    guard list.count <= limit else { throw MatrixError.tooLarge("'\(key)' has at most \(limit) entries.") }
    var known: Set<ID> = []
    return try list.elements.compactMap { element in
      guard let id = ID(element) else { throw MatrixError.invalidParameter("'\(key)' has an entry that is not valid.") }
      return known.insert(id).inserted ? id : nil
    }
  }
}
