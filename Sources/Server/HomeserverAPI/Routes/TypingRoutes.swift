import HTTPServer
import JSON
import MatrixModel
import ServerRooms

/// Who is typing.
extension Routes {
  mutating func addTypingRoutes() {
    let rooms = homeserver.rooms

    on(.setTyping) { request, session in
      try Self.requireOwn(request, session)
      let body = try await request.object()
      // Some clients write null for false.
      let isTyping = body["typing"]?.isNull ?? false ? false : try body.requiredBool("typing")
      let timeout = try body.optionalInteger("timeout") ?? Typing.timeoutMillisecondsLimit
      try await rooms.setTyping(
        isTyping && !session.standing.isShadowBanned, of: session.userID, in: try request.path("roomId"),
        timeoutMilliseconds: timeout)
      return .emptyObject
    }
  }
}
