import MatrixModel

extension Rooms {
  /// Whether the server speaks to somebody in this room.
  func isNoticeRoom(_ room: RoomSnapshot) -> Bool { room.create?.sender == configuration.noticesUser }

  /// Throws `M_CANNOT_LEAVE_SERVER_NOTICE_ROOM` where a user declines the invitation to their notice room; once in, they may
  /// leave. Spec: Client-Server API, "Server Notices".
  func checkMayLeave(_ room: RoomSnapshot, _ user: UserID) throws(MatrixError) {
    guard room.membership(of: user) == .invite, isNoticeRoom(room) else { return }
    throw MatrixError(
      status: 403, .cannotLeaveServerNoticeRoom, "The invitation to the server's notices cannot be declined.")
  }
}
