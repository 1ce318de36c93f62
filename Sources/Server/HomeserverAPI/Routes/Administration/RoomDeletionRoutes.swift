import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerRooms

/// Deleting rooms and histories: started here, carried out in the background.
extension Routes {
  mutating func addRoomDeletionRoutes() {
    addDeletionRoutes()
    addHistoryRoutes()
  }

  private mutating func addDeletionRoutes() {
    let (administration, tasks, audit) = (homeserver.roomAdministration, homeserver.administrationTasks, homeserver.audit)

    onAdmin(.delete, Self.administration + "/v2/rooms/{roomId}") { request, administrator in
      let roomID: RoomID = try request.path("roomId")
      let deletion = try RoomAdministration.Deletion(try await request.optionalObject())
      let id = try await audit.record(
        "room.delete", of: roomID.string, by: administrator,
        details: { writer in
          writer.member("block", deletion.blocks)
          writer.member("purge", deletion.purges)
        }
      ) { try await administration.startDeletion(of: roomID, deletion, by: administrator) }
      return .json { $0.object { $0.member("delete_id", id) } }
    }

    onAdmin(.get, Self.administration + "/v2/rooms/{roomId}/delete_status") { request, _ in
      let found = try await tasks.list(.deleteRoom, of: request.path("roomId").string)
      guard !found.isEmpty else { throw MatrixError.notFound("This room's deletion was not asked for lately.") }
      return .json { writer in
        writer.object { writer in
          writer.list("results", found) { task, writer in
            writer.member("delete_id", task.id)
            Self.write(deletion: task, to: &writer)
          }
        }
      }
    }

    onAdmin(.get, Self.administration + "/v2/rooms/delete_status/{deleteId}") { request, _ in
      let task = try await tasks.task(request.path("deleteId").string)
      guard task.kind == .deleteRoom else { throw MatrixError.notFound("There is no such deletion.") }
      return .json { $0.object { Self.write(deletion: task, to: &$0) } }
    }
  }

  private static func write(deletion task: AdministrationTask, to writer: inout JSONWriter) {
    switch task.state {
    case .complete: writer.member("status", "complete")
    case .failed:
      writer.member("status", "failed")
      writer.member("error", task.result?["error"]?.string ?? "")
    case .active: writer.member("status", task.cursor.isEmpty ? "shutting_down" : "purging")
    }
    if let result = task.result, task.state != .failed { writer.member("shutdown_room", result) }
  }

  private mutating func addHistoryRoutes() {
    let (administration, audit) = (homeserver.roomAdministration, homeserver.audit)
    let path = Self.administration + "/v1/purge_history/{roomId}"
    addHistoryStatusRoute()

    @Sendable func purge(_ roomID: RoomID, _ end: Rooms.HistoryEnd, _ administrator: Administrator) async throws -> Response {
      let id = try await audit.record("room.purge_history", of: roomID.string, by: administrator) {
        try await administration.startPurge(of: roomID, before: end, by: administrator)
      }
      return .json { $0.object { $0.member("purge_id", id) } }
    }

    onAdmin(.post, path) { request, administrator in
      let body = try await request.object()
      try Self.requireLocalEvents(body)
      let end: Rooms.HistoryEnd
      if let eventID: EventID = try body.optionalIdentifier("purge_up_to_event_id") {
        end = .event(eventID)
      } else if let time = try body.optionalInteger("purge_up_to_ts") {
        end = .timestamp(time)
      } else {
        throw MatrixError.missingParameter("purge_up_to_event_id' or 'purge_up_to_ts")
      }
      return try await purge(try request.path("roomId"), end, administrator)
    }

    onAdmin(.post, path + "/{eventId}") { request, administrator in
      try Self.requireLocalEvents(try await request.optionalObject())
      return try await purge(try request.path("roomId"), .event(try request.path("eventId")), administrator)
    }
  }

  private mutating func addHistoryStatusRoute() {
    let tasks = homeserver.administrationTasks

    onAdmin(.get, Self.administration + "/v1/purge_history_status/{purgeId}") { request, _ in
      let task = try await tasks.task(request.path("purgeId").string)
      guard task.kind == .purgeHistory else { throw MatrixError.notFound("There is no such purge.") }
      return .json { writer in
        writer.object { writer in
          writer.member("status", task.state.rawValue)
          if let error = task.result?["error"]?.string { writer.member("error", error) }
          if let deleted = task.result?["deleted"]?.integer { writer.member("martlet.deleted", deleted) }
        }
      }
    }
  }

  /// Tools leave out the events of this server unless told otherwise; here all events are.
  private static func requireLocalEvents(_ body: JSON) throws {
    guard try body.optionalBool("delete_local_events") == true else {
      throw MatrixError.invalidParameter(
        "All events of this server's rooms are its own: set 'delete_local_events' to true to delete them.")
    }
  }
}

extension RoomAdministration.Deletion {
  /// Throws `M_BAD_JSON`, and `M_UNRECOGNIZED` (400) for a room in its place, which this server does not make.
  fileprivate init(_ body: JSON) throws(MatrixError) {
    self.init()
    if body.given("new_room_user_id") != nil {
      throw MatrixError(
        status: 400, .unrecognized, "This server makes no room in the place of a deleted one; leave out 'new_room_user_id'.")
    }
    blocks = try body.optionalBool("block") ?? false
    purges = try body.optionalBool("purge") ?? true
    reason = try body.optionalText("message")?.string
  }
}
