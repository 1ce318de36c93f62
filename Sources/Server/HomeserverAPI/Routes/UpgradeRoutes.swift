import HTTPServer
import JSON
import MatrixModel
import ServerRooms

/// Replacing a room by one of another version.
extension Routes {
  package mutating func addUpgradeRoutes() {
    let rooms = homeserver.rooms

    on(.upgradeRoom) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let replacement = try await rooms.upgrade(
        roomID, try RoomUpgrade(try await request.object()), by: session.actor)
      return .json { $0.object { $0.member("replacement_room", replacement) } }
    }
  }
}
