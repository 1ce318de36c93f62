import JSON
import MatrixModel

/// Everything on its way, in the order it was written.
struct Outbox: Sendable {
  private(set) var entries: [OutboxEntry] = []
  /// Writes under way. While there are some nothing new of the room goes out: at most one entry of a room can have reached the server
  /// without the store knowing.
  var writes: [RoomID: Int] = [:]
  /// Rooms that wait before their next try.
  var timers: [RoomID: TimerID] = [:]
  /// Rooms of which the server is being asked whether they are encrypted, and those that it said are not: for the next that is sent there.
  var encryptionRequests: Set<RoomID> = []
  var unencryptedRooms: Set<RoomID> = []
  /// Rooms that wait to know all who are to read what is encrypted there.
  var waitingForMembers: Set<RoomID> = []
  /// Whether sending is off everywhere, and where else.
  var isPaused = false
  var pausedRooms: Set<RoomID> = []
  /// The largest file the server takes; nil before it was asked, and where it does not say.
  var fileLimit: Int64?
  var fileLimitState = FileLimitState.unknown
  private var lastID: OutboxEntry.ID = 0

  enum FileLimitState: UInt8, Sendable { case unknown, asked, known }

  /// Larger than all before, over restarts too: by the clock, of which an ID has 4,096 a millisecond.
  mutating func nextID(at now: Int64) -> OutboxEntry.ID {
    lastID = max(lastID + 1, UInt64(max(0, min(now, 1 << 50))) << 12)
    return lastID
  }

  mutating func append(_ entry: OutboxEntry) { entries.append(entry) }

  // MARK: Restoring

  /// In the order of their IDs.
  mutating func restore(_ entry: OutboxEntry, _ ids: inout ItemIDs) {
    guard entry.id > lastID, entry.id < UInt64(Int64.max) else { return }
    lastID = entry.id
    var entry = entry
    if entry.hasItem { entry.itemID = ids.next() }
    entries.append(entry)
  }

  /// Any may have gone out: the page's service worker sends them all while no page is open. What speaks of an entry that is not there can never go out.
  mutating func finishRestore() {
    var known: Set<OutboxEntry.ID> = []
    for i in entries.indices {
      if entries[i].isWaiting { entries[i].wasTried = true }
      for target in entries[i].payload.targets {
        guard case .entry(let id) = target, !known.contains(id) else { continue }
        entries[i].phase = .failed(.unknownEvent)
      }
      known.insert(entries[i].id)
    }
  }

  // MARK: Finding

  subscript(id: OutboxEntry.ID) -> OutboxEntry? {
    get { index(of: id).map { entries[$0] } }
    set {
      guard let i = index(of: id) else { return }
      if let newValue { entries[i] = newValue } else { entries.remove(at: i) }
    }
  }

  /// IDs grow.
  private func index(of id: OutboxEntry.ID) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].id == id ? low : nil
  }

  func entry(ofItem item: ItemID, in room: RoomID) -> OutboxEntry? {
    entries.first { $0.itemID == item && $0.roomID == room }
  }

  /// The entry whose event this is: by transaction ID, or by event ID where the answer to the request came first.
  func entry(for event: TimelineEvent, in room: RoomID) -> OutboxEntry.ID? {
    entries.first { entry in
      guard entry.roomID == room else { return false }
      if let id = event.transactionID, id == entry.transactionID { return true }
      return entry.eventID == event.eventID
    }?.id
  }

  func entries(in room: RoomID) -> [OutboxEntry] { entries.filter { $0.roomID == room } }

  /// The first of the room that is still to be sent; nil while one before it is not settled in the store.
  func first(in room: RoomID) -> OutboxEntry? {
    guard writes[room] ?? 0 == 0 else { return nil }
    let first = entries.first { $0.roomID == room && ($0.isWaiting || $0.isDelivered) }
    return first.flatMap { $0.isDelivered ? nil : $0 }
  }

  /// What waits for that entry, and what waits for those, in order.
  func dependants(of id: OutboxEntry.ID) -> [OutboxEntry.ID] {
    var found: [OutboxEntry.ID] = []
    for entry in entries where entry.id > id {
      if entry.payload.dependsOn(id) || found.contains(where: { entry.payload.dependsOn($0) }) { found.append(entry.id) }
    }
    return found
  }

  var waitingRooms: [RoomID] {
    var rooms: [RoomID] = []
    for entry in entries where entry.isWaiting && !rooms.contains(entry.roomID) { rooms.append(entry.roomID) }
    return rooms
  }

  /// Under way.
  func uploads(in room: RoomID) -> Int {
    var count = 0
    for entry in entries where entry.roomID == room { count += entry.uploads }
    return count
  }

  func isEnabled(in room: RoomID) -> Bool { !isPaused && !pausedRooms.contains(room) }

  func items(in room: RoomID, sender: UserID) -> [TimelineItem] {
    entries.compactMap { $0.roomID == room ? $0.item(sender: sender) : nil }
  }

  /// No request is under way any more, and nothing is being stored.
  mutating func suspend() {
    endRequests()
    for i in entries.indices { if case .storing = entries[i].phase { entries[i].phase = .queued } }
  }

  /// No request is under way any more.
  mutating func endRequests() {
    timers = [:]
    encryptionRequests = []
    unencryptedRooms = []
    waitingForMembers = []
    if fileLimitState == .asked { fileLimitState = .unknown }
    for i in entries.indices {
      switch entries[i].phase {
      case .uploading, .sending, .encrypting: entries[i].phase = .queued
      default: break
      }
      if entries[i].uploads > 0 { entries[i].payload.forgetUploads() }
    }
  }
}
