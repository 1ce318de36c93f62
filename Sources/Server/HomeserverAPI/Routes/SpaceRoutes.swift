import HTTPServer
import JSON
import MatrixModel
import ServerDirectory

/// Trees of spaces, summaries of rooms, events by time.
extension Routes {
  mutating func addSpaceRoutes() {
    let (hierarchy, rooms) = (homeserver.spaceHierarchy, homeserver.rooms)
    addEventByTimeRoute()

    on(.getSpaceHierarchy) { request, session in
      let parameters = try request.query()
      var query = SpaceHierarchy.Query()
      query.limit = try parameters.pageLimit()
      query.maxDepth = try parameters.integer("max_depth").map { Int(clamping: $0) }
      query.suggestedOnly = try parameters.bool("suggested_only")
      query.from = parameters.text("from").flatMap { $0.isEmpty ? nil : $0 }
      let page = try await hierarchy.page(of: try request.path("roomId"), query, for: session.userID)
      return .json(capacity: page.entries.count * 1_024 + 64) { writer in
        writer.object { writer in
          writer.array("rooms", page.entries) { Self.write($0, to: &$1) }
          if let next = page.next { writer.member("next_batch", next) }
        }
      }
    }

    // The path before it was part of the specification, MSC3266, in its two forms.
    let earlier = [
      "/_matrix/client/unstable/im.nheko.summary/rooms/{roomIdOrAlias}/summary",
      "/_matrix/client/unstable/im.nheko.summary/summary/{roomIdOrAlias}"
    ]
    on(.getRoomSummary, alsoAt: earlier) { request in
      let session = try await request.session()
      let roomID = try await request.roomIDOrAlias(rooms)
      let (preview, membership) = try await hierarchy.summary(of: roomID, for: session?.userID)
      return .json { writer in
        writer.object { writer in
          preview.writeSummary(to: &writer)
          if let membership { writer.member("membership", membership.name.description) }
        }
      }
    }
  }

  private mutating func addEventByTimeRoute() {
    let rooms = homeserver.rooms

    on(.getEventByTimestamp) { request, session in
      let parameters = try request.query()
      _ = try parameters.required("ts")
      let time = try parameters.integer("ts", in: Int64.min...Int64.max) ?? 0
      let event = try await rooms.event(
        nearest: time, try parameters.direction(), in: try request.path("roomId"), for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("event_id", event.eventID)
          writer.member("origin_server_ts", event.timestamp)
        }
      }
    }
  }

  private static func write(_ entry: SpaceHierarchy.Entry, to writer: inout JSONWriter) {
    writer.object { writer in
      entry.preview.writeSummary(to: &writer)
      writer.list("children_state", entry.children) { child, writer in
        writer.member("type", child.type)
        writer.member("state_key", child.stateKey ?? "")
        writer.member("sender", child.sender)
        writer.member("content", child.content)
        writer.member("origin_server_ts", child.timestamp)
      }
    }
  }
}
