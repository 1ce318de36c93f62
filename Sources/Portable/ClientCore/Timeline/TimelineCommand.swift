import JSON
import MatrixModel

/// Opening timelines and loading what they show.
public enum TimelineCommand: Sendable {
  /// Loads the room's timeline from the store and keeps it until other rooms push it out.
  case openRoom(RoomID)
  case closeRoom(RoomID)
  /// Opens a timeline until `close`. Around an event and in a thread it ends when the first events are there.
  case open(TimelineKey)
  case close(TimelineKey)
  /// Loads older events in front of the first item. Does nothing at the start of the room or while a page is loading.
  case paginateBack(TimelineKey)
  /// Loads newer events behind the last item. Does nothing in a live timeline or while a page is loading.
  case paginateForward(TimelineKey)
  /// The gap is on the screen: loads its events.
  case fillGap(TimelineKey, ItemID)
  /// Loads the event that a reply answers, for `TimelineItem.quoted`: from memory if it is there, otherwise from the server.
  case loadReply(TimelineKey, ItemID)
  /// The event as the server has it; ends in `CommandResult.event`. Later calls need no request.
  case loadEvent(RoomID, EventID)
  /// Finds the first event at or after that time, in milliseconds since 1970; ends in `CommandResult.timeline`, which is open.
  case jumpToDate(RoomID, Int64)
  /// Removes a message from the timelines of this account, on all its devices. Others keep it.
  case removeForMe(RoomID, EventID)
}

extension Client {
  mutating func handle(_ command: TimelineCommand, _ id: CommandID) {
    switch command {
    case .openRoom(let room): openRoom(room, id)
    case .closeRoom(let room): closeRoom(room, id)
    case .open(let key): openTimeline(key, id)
    case .close(let key): closeTimeline(key, id)
    case .paginateBack(let key): paginateBack(key, id)
    case .paginateForward(let key): paginateForward(key, id)
    case .fillGap(let key, let item): fillGap(key, item, id)
    case .loadReply(let key, let item): loadReply(item, in: key, id)
    case .loadEvent(let room, let event): loadEvent(event, in: room, id)
    case .jumpToDate(let room, let time): jumpToDate(time, in: room, id)
    case .removeForMe(let room, let event): removeForMe(event, from: room, id)
    }
  }
}
