import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerDirectory
import ServerRooms

/// Sending events, setting state, and reading single ones.
extension Routes {
  package mutating func addEventRoutes() {
    let (rooms, delayed) = (homeserver.rooms, homeserver.delayedEvents)
    addEventReadingRoutes()

    on(.sendMessage) { request, session in
      if let delay = try request.delayMilliseconds() {
        let draft = try await request.draft(delayedBy: delay, stateKey: nil, try request.path("txnId"))
        return .delayID(try await delayed.schedule(draft, by: try session.actor(at: request.query())))
      }
      let eventID = try await rooms.send(
        try request.path("eventType"), try await request.object(), to: try request.path("roomId"),
        by: try session.actor(at: request.query()), transactionID: try request.path("txnId"))
      return .eventID(eventID)
    }

    on(.redactEvent) { request, session in
      let eventID = try await rooms.redact(
        try request.path("eventId"), in: try request.path("roomId"), try await request.optionalObject(),
        by: session.actor, transactionID: try request.path("txnId"))
      return .eventID(eventID)
    }

    // The state key may be left out with its slash where it is empty.
    on(.setRoomStateWithKey, alsoAt: Self.emptyStateKeyPaths) { request, session in
      if let delay = try request.delayMilliseconds() {
        let draft = try await request.draft(delayedBy: delay, stateKey: request.path("stateKey"), nil)
        return .delayID(try await delayed.schedule(draft, by: try session.actor(at: request.query())))
      }
      let eventID = try await rooms.setState(
        try request.path("eventType"), request.path("stateKey"), try await request.object(),
        in: try request.path("roomId"), by: try session.actor(at: request.query()))
      return .eventID(eventID)
    }
  }

  private mutating func addEventReadingRoutes() {
    let (rooms, relations, clock) = (homeserver.rooms, homeserver.relations, homeserver.configuration.clock)

    on(.getRoomStateWithKey, alsoAt: Self.emptyStateKeyPaths) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let event = try await rooms.state(
        try request.path("eventType"), request.path("stateKey"), of: roomID, for: session.userID)
      guard try request.query().text("format") == "event" else { return .json { $0.write(event.content) } }
      return .json { event.write(to: &$0, for: session.reader(clock), roomID: roomID) }
    }

    on(.getOneRoomEvent) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let shown = try await relations.event(try request.path("eventId"), in: roomID, for: session.userID)
      return .json {
        shown.event.write(
          to: &$0, for: session.reader(clock, shown.aggregations), roomID: roomID,
          membership: shown.view.membership(at: shown.event))
      }
    }
  }

  private static let emptyStateKeyPaths = [
    "/_matrix/client/v3/rooms/{roomId}/state/{eventType}", "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/"
  ]
}

extension APIRequest {
  fileprivate func draft(
    delayedBy milliseconds: Int64, stateKey: ByteString?, _ transactionID: TransactionID?
  ) async throws -> DelayedEvent.Draft {
    DelayedEvent.Draft(
      roomID: try path("roomId"), type: try path("eventType"), stateKey: stateKey, content: try await object(),
      delayMilliseconds: milliseconds, transactionID: transactionID)
  }
}

extension Response {
  fileprivate static func eventID(_ eventID: EventID) -> Response {
    .json { $0.object { $0.member("event_id", eventID) } }
  }
}

extension Session {
  /// Who reads an event, for the parts of it that differ from reader to reader.
  func reader(_ clock: WallClock, _ aggregations: Aggregations = .none) -> EventReader {
    var reader = EventReader(userID: userID, deviceID: deviceID, now: clock.now())
    reader.aggregations = aggregations
    return reader
  }
}
