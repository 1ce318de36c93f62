import JSON
import MatrixModel

/// All messages on their way, in the order they were written.
struct Outbox: Sendable {
  private(set) var entries: [OutboxEntry] = []
  /// Rooms that wait before their next try.
  var timers: [RoomID: TimerID] = [:]
  private var lastID: OutboxEntry.ID = 0

  mutating func nextID() -> OutboxEntry.ID {
    lastID += 1
    return lastID
  }

  mutating func append(_ entry: OutboxEntry) { entries.append(entry) }

  /// In the order of their IDs.
  mutating func restore(_ entry: OutboxEntry, _ ids: inout ItemIDs) {
    guard entry.id > lastID, entry.id < UInt64(Int64.max) else { return }
    lastID = entry.id
    var entry = entry
    entry.itemID = ids.next()
    entries.append(entry)
  }

  subscript(id: OutboxEntry.ID) -> OutboxEntry? {
    get { entries.first { $0.id == id } }
    set {
      guard let i = entries.firstIndex(where: { $0.id == id }) else { return }
      if let newValue { entries[i] = newValue } else { entries.remove(at: i) }
    }
  }

  func entry(ofItem item: ItemID, in room: RoomID) -> OutboxEntry? {
    entries.first { $0.itemID == item && $0.roomID == room }
  }

  /// The entry whose event this is: by transaction ID, or by event ID where the answer to the request came first.
  func entry(for event: TimelineEvent, in room: RoomID) -> OutboxEntry.ID? {
    entries.first { entry in
      guard entry.roomID == room else { return false }
      if let id = event.transactionID, id == entry.transactionID { return true }
      if case .sent(let sent, _) = entry.phase { return sent == event.eventID }
      return false
    }?.id
  }

  func entries(in room: RoomID) -> [OutboxEntry] { entries.filter { $0.roomID == room } }

  /// The first message of the room that is still to be sent.
  func first(in room: RoomID) -> OutboxEntry? { entries.first { $0.roomID == room && $0.isWaiting } }

  var waitingRooms: [RoomID] {
    var rooms: [RoomID] = []
    for entry in entries where entry.isWaiting && !rooms.contains(entry.roomID) { rooms.append(entry.roomID) }
    return rooms
  }

  /// No request is under way any more.
  mutating func suspend() {
    timers = [:]
    for i in entries.indices {
      switch entries[i].phase {
      case .uploading, .sending, .storing: entries[i].phase = .queued
      default: break
      }
    }
  }
}
