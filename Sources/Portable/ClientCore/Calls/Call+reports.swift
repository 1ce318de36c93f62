import JSON
import MatrixModel

/// Telling those who run the server. Spec: Client-Server API, "Reporting content".
extension Call {
  public static func report(_ event: EventID, in room: RoomID, reason: ByteString) -> Call<Void> {
    Call<Void>(.reportEvent, Endpoint.reportEvent.path(room.text, event.text), body: body(reason))
  }

  public static func report(_ room: RoomID, reason: ByteString) -> Call<Void> {
    Call<Void>(.reportRoom, Endpoint.reportRoom.path(room.text), body: body(reason))
  }

  public static func report(_ user: UserID, reason: ByteString) -> Call<Void> {
    Call<Void>(.reportUser, Endpoint.reportUser.path(user.text), body: body(reason))
  }

  private static func body(_ reason: ByteString) -> [UInt8] { JSONWriter.object { $0.member("reason", reason) } }
}
