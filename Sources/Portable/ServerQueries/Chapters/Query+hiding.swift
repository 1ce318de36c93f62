import EventContent
import JSON
import MatrixModel

/// Rooms out of the lists until somebody else says something there: the server's extension `martlet.hide`, see
/// `Capabilities.offers(_:)`. The sync after it says that the room is hidden (`Room.isHidden`).
extension Query {
  public static func hide(_ room: RoomID) -> Query<Void> {
    Query<Void>(.hideRoom, Endpoint.hideRoom.path(room.text))
  }

  /// Shows it again.
  public static func unhide(_ room: RoomID) -> Query<Void> {
    Query<Void>(.showRoom, Endpoint.showRoom.path(room.text))
  }

  /// Hides these rooms, or shows them again; the number of those that were not so before.
  /// - Parameter rooms: nil for all joined rooms.
  public static func setHidden(_ isHidden: Bool, rooms: [RoomID]? = nil) -> Query<Int> {
    let body = JSONWriter.object { writer in
      if let rooms { writer.array("rooms", rooms) { $1.write($0) } }
      writer.member("hidden", isHidden)
    }
    return Query<Int>(.hideRooms, Endpoint.hideRooms.path(), body: body) { $0["rooms"]?.count32 }
  }
}

extension Capabilities {
  /// Whether the server has an extension: `martlet.hide`, for one. What it does not announce is off.
  public func offers(_ name: ByteString) -> Bool { all[name]?.bool("enabled") ?? false }
}
