import JSON
import MatrixModel

/// What has been read, and who is told of it.
public enum ReadingCommand: Sendable {
  /// The last item that is fully on the screen. It counts as read once the window has the focus.
  case viewed(RoomID, upTo: ItemID)
  /// Marks everything in the room as read; nil for all rooms.
  case markRead(RoomID?)
  /// Marks the room as unread, from behind an event if there is one, or removes the mark, which reading the room does as well.
  case markUnread(RoomID, Bool, after: EventID? = nil)
  /// Why the room counts as unread; ends in `CommandResult.unread`. Sends no request.
  case explainUnread(RoomID)
  /// Whether others see how far the user has read (`m.read`) or not (`m.read.private`).
  case setPublicReceipts(Bool)
  /// Whether the server is told what has reached this device, if it passes that on (`martlet.delivered`). Off at the start.
  case setDeliveryReceipts(Bool)
}

extension Client {
  mutating func handle(_ command: ReadingCommand, _ id: CommandID) {
    switch command {
    case .viewed(let room, let item): viewed(room, upTo: item, id)
    case .markRead(let room): markRead(room, id)
    case .markUnread(let room, let isMarked, let after): markUnread(isMarked, after: after, room, id)
    case .explainUnread(let room): explainUnread(room, id)
    case .setPublicReceipts(let isPublic):
      sendsPublicReceipts = isPublic
      finish(id, .done)
    case .setDeliveryReceipts(let isOn): setDeliveryReceipts(isOn, id)
    }
  }
}
