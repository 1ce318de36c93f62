import HTTPServer
import JSON
import MatrixModel
import ServerRooms

/// How far users have read.
extension Routes {
  mutating func addReceiptRoutes() {
    let receipts = homeserver.receipts

    on(.postReceipt) { request, session in
      let eventID: EventID = try request.path("eventId")
      let body = try await request.optionalObject()
      var markers = Receipts.Markers()
      let kind = request.path("receiptType")
      if kind == "martlet.delivered" {
        _ = try Self.thread(body, isAllowed: false)
        try await receipts.deliver(eventID, to: session.userID, in: try request.path("roomId"))
        return .emptyObject
      }
      if kind == "m.read" {
        markers.read = eventID
      } else if kind == "m.read.private" {
        markers.readPrivate = eventID
      } else if kind == "m.fully_read" {
        markers.fullyRead = eventID
      } else {
        throw MatrixError.invalidParameter("'\(kind)' is no type of receipt.")
      }
      markers.thread = try Self.thread(body, isAllowed: markers.fullyRead == nil)
      try await receipts.move(markers, of: session.userID, in: try request.path("roomId"))
      return .emptyObject
    }

    on(.setReadMarker) { request, session in
      let body = try await request.object()
      let markers = Receipts.Markers(
        read: try body.optionalIdentifier("m.read"), readPrivate: try body.optionalIdentifier("m.read.private"),
        fullyRead: try body.optionalIdentifier("m.fully_read"))
      try await receipts.move(markers, of: session.userID, in: try request.path("roomId"))
      return .emptyObject
    }
  }

  /// Spec: `POST /rooms/{roomId}/receipt/{receiptType}/{eventId}`, the cases of `M_INVALID_PARAM`.
  private static func thread(_ body: JSON, isAllowed: Bool) throws -> ByteString? {
    guard let value = body["thread_id"] else { return nil }
    guard isAllowed, let thread = value.text, !thread.isEmpty else {
      throw MatrixError.invalidParameter(
        "'thread_id' is 'main' or the event ID of a thread's root, and only for m.read and m.read.private.")
    }
    return thread
  }
}
