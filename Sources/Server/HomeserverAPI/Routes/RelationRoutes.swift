import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// What relates to an event, and the threads of a room.
extension Routes {
  mutating func addRelationRoutes() {
    let (relations, clock) = (homeserver.relations, homeserver.configuration.clock)
    addThreadRoute()

    @Sendable func children(_ request: APIRequest, _ session: Session) async throws -> Response {
      let query = try request.query()
      var wanted = Relations.Query(parent: try request.path("eventId"), roomID: try request.path("roomId"))
      if !request.path("relType").isEmpty { wanted.kind = request.path("relType") }
      if !request.path("eventType").isEmpty { wanted.type = try request.path("eventType", as: EventType.self) }
      wanted.from = try query.token("from")
      wanted.to = try query.token("to")
      wanted.direction = try query.direction(default: "b")
      wanted.limit = try query.integer("limit").map { Int(clamping: $0) }
      let recurses = try query.bool("recurse")
      wanted.recurses = recurses ?? false
      let page = try await relations.children(wanted, for: session.userID)
      return .json(capacity: page.events.count * 512 + 64) { writer in
        writer.object { writer in
          writer.events("chunk", page.events, session.reader(clock, page.aggregations), page.view)
          if let next = page.next { writer.member("next_batch", next.text) }
          if let from = wanted.from { writer.member("prev_batch", from.text) }
          if let recurses { writer.member("recursion_depth", recurses ? Relations.depthLimit : 1) }
        }
      }
    }
    on(.getRelatingEvents, children)
    on(.getRelatingEventsWithRelType, children)
    on(.getRelatingEventsWithRelTypeAndEventType, children)
  }

  private mutating func addThreadRoute() {
    let (relations, clock) = (homeserver.relations, homeserver.configuration.clock)

    on(.getThreadRoots) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let query = try request.query()
      let include = query.text("include") ?? "all"
      guard include == "all" || include == "participated" else {
        throw MatrixError.invalidParameter("'include' is 'all' or 'participated'.")
      }
      let page = try await relations.threads(
        of: roomID, for: session.userID, onlyParticipated: include == "participated", from: try query.token("from"),
        limit: try query.pageLimit())
      return .json(capacity: page.roots.count * 1_024 + 64) { writer in
        writer.object { writer in
          writer.events("chunk", page.roots, session.reader(clock, page.aggregations), page.view)
          if let next = page.next { writer.member("next_batch", next.text) }
        }
      }
    }
  }
}
