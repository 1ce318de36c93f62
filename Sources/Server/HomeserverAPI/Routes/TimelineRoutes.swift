import HTTPServer
import JSON
import MatrixModel
import ServerRooms

/// Reading rooms: history, surroundings of an event, state, members.
extension Routes {
  package mutating func addTimelineRoutes() {
    let (rooms, clock) = (homeserver.rooms, homeserver.configuration.clock)
    addContextRoute()

    on(.getRoomEvents) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let query = try request.query()
      let filter = try query.filter()
      let page = try await rooms.messages(
        of: roomID, for: session.userID, from: try query.token("from"), to: try query.token("to"), try query.direction(),
        limit: Int(try query.integer("limit") ?? Int64(filter.limit ?? 10)), filter)
      return .json(capacity: page.events.count * 512 + 256) { writer in
        writer.object { writer in
          writer.member("start", page.start.text)
          if let end = page.end { writer.member("end", end.text) }
          writer.events("chunk", page.events, session.reader(clock, page.aggregations), page.view)
          if !page.members.isEmpty { writer.events("state", page.members, session.reader(clock), roomID) }
        }
      }
    }

    on(.getRoomState) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let state = try await rooms.state(of: roomID, for: session.userID)
      return .json(capacity: state.count * 512 + 64) { writer in
        writer.beginArray()
        for event in state { event.write(to: &writer, for: session.reader(clock), roomID: roomID) }
        writer.endArray()
      }
    }
  }

  private mutating func addContextRoute() {
    let (rooms, clock) = (homeserver.rooms, homeserver.configuration.clock)

    on(.getEventContext) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let query = try request.query()
      let filter = try query.filter()
      let context = try await rooms.context(
        of: try request.path("eventId"), in: roomID, for: session.userID,
        limit: Int(try query.integer("limit") ?? Int64(filter.limit ?? 10)), filter)
      let reader = session.reader(clock, context.aggregations)
      return .json { writer in
        writer.object { writer in
          writer.member("start", context.start.text)
          writer.member("end", context.end.text)
          writer.key("event")
          context.event.write(
            to: &writer, for: reader, roomID: roomID, membership: context.view.membership(at: context.event))
          writer.events("events_before", context.before, reader, context.view)
          writer.events("events_after", context.after, reader, context.view)
          writer.events("state", context.state, reader, roomID)
        }
      }
    }
  }

  package mutating func addMemberRoutes() {
    let (rooms, clock) = (homeserver.rooms, homeserver.configuration.clock)
    addJoinedRoutes()

    on(.getMembersByRoom) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let query = try request.query()
      let wanted = try query.membership("membership")
      let unwanted = try query.membership("not_membership")
      // Spec: with both parameters, what matches either.
      let members = try await rooms.members(of: roomID, for: session.userID, at: try query.token("at")) { membership in
        if wanted == nil, unwanted == nil { return true }
        return membership == wanted || unwanted.map { $0 != membership } ?? false
      }
      return .json(capacity: members.count * 512 + 64) { writer in
        writer.object { $0.events("chunk", members, session.reader(clock), roomID) }
      }
    }
  }

  private mutating func addJoinedRoutes() {
    let rooms = homeserver.rooms

    on(.getJoinedMembersByRoom) { request, session in
      let members = try await rooms.joinedMembers(of: try request.path("roomId"), for: session.userID)
      return .json(capacity: members.count * 128 + 64) { writer in
        writer.object { writer in
          writer.key("joined")
          writer.object { writer in
            for member in members {
              writer.key(member.stateKey ?? "")
              writer.object { writer in
                if let name = member.content["displayname"]?.text { writer.member("display_name", name) }
                if let avatar = member.content["avatar_url"]?.text { writer.member("avatar_url", avatar) }
              }
            }
          }
        }
      }
    }

    on(.getJoinedRooms) { _, session in
      let joined = try await rooms.joinedRooms(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.array("joined_rooms", joined) { $1.write($0) }
        }
      }
    }
  }
}

extension JSONWriter {
  /// A member with a stretch of a timeline in the client format, each event naming its room and how the reader stood to it.
  mutating func events(_ key: StaticString, _ events: [StoredEvent], _ reader: EventReader, _ view: RoomView) {
    self.key(key)
    beginArray()
    for event in events {
      event.write(to: &self, for: reader, roomID: view.room.roomID, membership: view.membership(at: event))
    }
    endArray()
  }

  /// A member with events in the client format, each naming its room.
  mutating func events(_ key: StaticString, _ events: [StoredEvent], _ reader: EventReader, _ roomID: RoomID) {
    self.key(key)
    beginArray()
    for event in events { event.write(to: &self, for: reader, roomID: roomID) }
    endArray()
  }
}

extension QueryParameters {
  /// Throws `M_INVALID_PARAM` for what is no token of this server. An empty one counts as not given.
  func token(_ name: StaticString) throws -> TimelineToken? {
    guard let text = text(name), !text.isEmpty else { return nil }
    guard let token = TimelineToken(text) else {
      throw MatrixError.invalidParameter("'\(name)' is not a token of this server.")
    }
    return token
  }

  func direction(default standard: ByteString? = nil) throws -> Rooms.Direction {
    let text = try text("dir") ?? standard ?? required("dir")
    if text == "b" { return .backward }
    if text == "f" { return .forward }
    throw MatrixError.invalidParameter("'dir' is 'b' or 'f'.")
  }

  func membership(_ name: StaticString) throws -> Membership? {
    guard let text = text(name) else { return nil }
    for membership in [Membership.join, .leave, .invite, .ban, .knock] where text == membership.name { return membership }
    throw MatrixError.invalidParameter("'\(name)' is not a membership.")
  }

  /// The room event filter in the query, as JSON. Throws `M_INVALID_PARAM` where it does not parse.
  fileprivate func filter() throws -> EventFilter {
    guard let text = text("filter"), !text.isEmpty else { return EventFilter() }
    guard let json = try? JSON.parse(Array(text.utf8)) else { throw MatrixError.invalidParameter("'filter' is not JSON.") }
    return try EventFilter(json)
  }
}
