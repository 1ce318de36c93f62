import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms
import ServerSync

/// Ours: what is unread in all, what was said since one joined, marking rooms as read, hiding rooms until the next message.
extension Routes {
  mutating func addUnreadRoutes() {
    let (sync, receipts, hidden) = (homeserver.sync, homeserver.receipts, homeserver.hiddenRooms)

    on(.getUnread) { _, session in
      let total = try await sync.unreadTotal(of: session.userID)
      return .json(capacity: 256 + total.rooms.count * 128) { Self.write(total, to: &$0) }
    }

    on(.getSinceJoined, budget: .initialSync) { [homeserver] request, session in
      let count = try await homeserver.rooms.messagesSinceJoined(try request.path("roomId"), by: session.userID)
      return .json { writer in writer.object { $0.member("messages", count) } }
    }

    on(.markAllRead) { request, session in
      let body = try await request.optionalObject()
      let isPrivate = try body.optionalBool("private") ?? false
      let rooms = try Self.rooms(body, Receipts.roomsLimit)
      let count = try await receipts.moveAll(isPrivate ? .readPrivate : .read, of: session.userID, in: rooms)
      return .json { writer in writer.object { $0.member("rooms", count) } }
    }

    on(.hideRoom) { request, session in
      try await hidden.hide([try request.path("roomId")], of: session.userID)
      return .emptyObject
    }

    on(.showRoom) { request, session in
      try await hidden.show([try request.path("roomId")], of: session.userID)
      return .emptyObject
    }

    on(.hideRooms) { request, session in
      let body = try await request.optionalObject()
      let rooms = try Self.rooms(body, HiddenRooms.roomsLimit)
      let hides = try body.optionalBool("hidden") ?? true
      let count =
        hides ? try await hidden.hide(rooms, of: session.userID) : try await hidden.show(rooms, of: session.userID)
      return .json { writer in writer.object { $0.member("rooms", count) } }
    }
  }

  /// The `rooms` of a body; nil, for all rooms, where it has none.
  private static func rooms(_ body: JSON, _ limit: Int) throws -> [RoomID]? {
    guard let list = try body.optionalArray("rooms") else { return nil }
    guard list.count <= limit else { throw MatrixError.tooLarge("One request names at most \(limit) rooms.") }
    return try list.elements.map { element in
      guard let room = RoomID(element) else { throw MatrixError.invalidParameter("'rooms' is a list of room IDs.") }
      return room
    }
  }

  private static func write(_ total: UnreadTotal, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("notification_count", total.count.notifications)
      writer.member("highlight_count", total.count.highlights)
      writer.member("unread_rooms", total.rooms.count)
      writer.key("rooms")
      writer.object { writer in
        for room in total.rooms {
          writer.key(room.roomID)
          writer.object { writer in
            writer.member("notification_count", room.count.notifications)
            writer.member("highlight_count", room.count.highlights)
            if room.isMarkedUnread { writer.member("marked_unread", true) }
          }
        }
      }
    }
  }
}
