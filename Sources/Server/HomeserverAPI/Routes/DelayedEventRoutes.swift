import HTTPServer
import JSON
import MatrixModel
import ServerDirectory

/// Events that are sent later. Spec: MSC4140, its unstable paths.
extension Routes {
  mutating func addDelayedEventRoutes() {
    let delayed = homeserver.delayedEvents
    addDelayedEventActionRoutes()

    on(.scheduleEvent) { request, session in
      let body = try await request.object()
      // `delay` is its name in earlier revisions.
      guard let delay = try body.optionalInteger("delay_ms") ?? body.optionalInteger("delay") else {
        throw MatrixError.missingParameter("delay_ms")
      }
      let id = try await delayed.schedule(
        DelayedEvent.Draft(
          roomID: try request.path("roomId"), type: try request.path("eventType"),
          stateKey: try body.optionalText("state_key"), content: try body.requiredObject("content"),
          delayMilliseconds: delay, transactionID: try request.path("txnId")),
        by: try session.actor(at: request.query()))
      return .delayID(id)
    }

    on(.getDelayedEvents) { request, session in
      let parameters = try request.query()
      let page = try await delayed.page(
        of: session.userID, try Self.status(parameters.text("status")), from: parameters.text("from"))
      return .json { writer in
        writer.object { writer in
          writer.array("delayed_events", page.events) { $0.write(to: &$1) }
          if let next = page.next { writer.member("next_batch", next) }
        }
      }
    }

    on(.getDelayedEvent) { request, session in
      let event = try await delayed.event(try request.path("delayId"), of: session.userID)
      return .json { event.write(to: &$0) }
    }
  }

  private mutating func addDelayedEventActionRoutes() {
    let delayed = homeserver.delayedEvents

    // Who knows the ID may act: a call server restarts for the client what ends its call.
    on(.performOnDelayedEvent) { request in
      try await delayed.perform(try Self.action(request.path("action")), on: try request.path("delayId"))
      return .emptyObject
    }

    on(.updateDelayedEvent) { request in
      let action = try Self.action(try await request.object().requiredText("action"))
      try await delayed.perform(action, on: try request.path("delayId"))
      return .emptyObject
    }
  }

  private static func action(_ name: ByteString) throws -> DelayedEvents.Action {
    if name == "send" { return .send }
    if name == "cancel" { return .cancel }
    if name == "restart" { return .restart }
    throw MatrixError.invalidParameter("The action is 'send', 'cancel' or 'restart'.")
  }

  private static func status(_ name: ByteString?) throws -> DelayedEvents.Status? {
    guard let name else { return nil }
    if name == "scheduled" { return .scheduled }
    if name == "finalised" { return .finalised }
    throw MatrixError.invalidParameter("'status' is 'scheduled' or 'finalised'.")
  }
}

extension APIRequest {
  /// What an earlier revision of MSC4140 adds to the query of `send` and `state`; nil where the event is for now.
  func delayMilliseconds() throws -> Int64? { try query().integer("org.matrix.msc4140.delay") }
}

extension Response {
  static func delayID(_ id: DelayedEvent.ID) -> Response { .json { $0.object { $0.member("delay_id", id) } } }
}
