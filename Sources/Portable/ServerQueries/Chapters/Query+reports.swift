import JSON
import MatrixModel

/// Telling those who run the server. Spec: Client-Server API, "Reporting content".
extension Query {
  public static func report(_ event: EventID, in room: RoomID, reason: ByteString) -> Query<Void> {
    Query<Void>(.reportEvent, Endpoint.reportEvent.path(room.text, event.text), body: body(reason))
  }

  public static func report(_ room: RoomID, reason: ByteString) -> Query<Void> {
    Query<Void>(.reportRoom, Endpoint.reportRoom.path(room.text), body: body(reason))
  }

  public static func report(_ user: UserID, reason: ByteString) -> Query<Void> {
    Query<Void>(.reportUser, Endpoint.reportUser.path(user.text), body: body(reason))
  }

  private static func body(_ reason: ByteString) -> [UInt8] { JSONWriter.object { $0.member("reason", reason) } }
}
