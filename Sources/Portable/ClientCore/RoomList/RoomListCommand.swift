import JSON
import MatrixModel

/// Lists of rooms (`Client.roomList`). They need no session: a list can be open before its rooms are there.
public enum RoomListCommand: Sendable {
  /// Keeps a list up to date until `close`. Replaces a list that is open under the same ID.
  case open(RoomListID, RoomListQuery)
  case close(RoomListID)
  /// Shows the next page of a section.
  case grow(RoomListID, RoomListSection)
}

extension Client {
  mutating func handle(_ command: RoomListCommand, _ id: CommandID) {
    switch command {
    case .open(let list, let query): openRoomList(list, query)
    case .close(let list): closeRoomList(list)
    case .grow(let list, let section): growRoomList(list, section)
    }
    finish(id, .done)
  }
}
