import MatrixModel
import ServerRooms

/// The newest visible events of a room in an interval, and whether there are more between them and its start.
struct RoomTimeline {
  /// Oldest first.
  private(set) var events: [StoredEvent] = []
  private(set) var isLimited = false
  /// The place before the first event: where paging back goes on (`prev_batch`), and up to which state is told apart.
  private(set) var start: Int64
  /// nil where the user was in the room at every event.
  let view: RoomView?

  /// The part of a room that is read, and its reader.
  struct Interval {
    /// Events up to it are not told; the timeline is limited when one after it is left out.
    let lower: Int64
    let end: Int64
    /// Whether the reader has nothing of the room yet.
    let isNew: Bool
    /// nil where the user may see all of the interval.
    let view: RoomView?
    /// Which events count.
    let filter: EventFilter
    /// Events at most.
    let limit: Int
    /// Whose messages are left out.
    let ignored: Set<UserID>
    /// Messages older than this are gone.
    let expiry: Int64
    /// Who reads, and what is hidden from them because its author is erased.
    let reader: UserID
    let erasures: Erasures
  }

  /// Events looked at when a filter or their visibility drops most.
  private static let scanLimit = 5_000
  private static let batchLimit = 200

  private var scanned = 0
  private var reached: Int64
  /// Whether state that the reader may not see as an event lies before the first of `events`. Nothing older is told with them: a
  /// client takes its state from `state` and the timeline, and would never learn what is missing between.
  private var hidesState = false

  /// Reads back from the interval's end until there are enough events or its start is reached.
  init(of room: RoomSnapshot, _ interval: Interval, _ rows: SyncRows) throws {
    start = interval.lower
    view = interval.view
    reached = interval.end
    // Of a room whose timeline is not wanted, the state is told up to the end.
    guard interval.filter.matches(room: room.roomID) else {
      start = interval.end
      return
    }
    var isOpen = true
    for event in room.tail.reversed() where isOpen && event.position <= interval.end {
      isOpen = look(at: event, interval)
    }
    if isOpen && !room.tailCovers(after: interval.lower) {
      try readRows(of: room, interval, rows)
    }
    events.reverse()
    events = try interval.erasures.shown(events, to: interval.reader, in: room) { try rows.loader() }
    if let first = events.first {
      if isLimited || interval.isNew || hidesState { start = first.position - 1 }
    } else if isLimited {
      start = interval.limit == 0 ? interval.end : reached
    } else if interval.isNew {
      start = interval.end
    }
  }

  /// How the reader stood to the room at an event of it.
  func membership(at event: StoredEvent) -> Membership { view?.membership(at: event) ?? .join }

  /// Says that there is more before it than the interval shows.
  mutating func limit() { isLimited = true }

  private mutating func readRows(
    of room: RoomSnapshot, _ interval: Interval, _ rows: SyncRows
  ) throws {
    let loader = try rows.loader()
    var oldest = min(room.tail.first?.position ?? .max, interval.end + 1)
    while true {
      let batch = try loader.events(in: room.number, before: oldest, limit: Self.batchLimit)
      for event in batch { if !look(at: event, interval) { return } }
      guard batch.count == Self.batchLimit, let last = batch.last else { return }
      oldest = last.position
    }
  }

  /// Takes an event where it belongs to the timeline. Answers whether to look further back.
  private mutating func look(at event: StoredEvent, _ interval: Interval) -> Bool {
    guard event.position > interval.lower else { return false }
    let isIgnored =
      event.stateKey == nil && interval.ignored.contains(event.sender) || event.hasExpired(at: interval.expiry)
    let isVisible = interval.view?.canSee(event) ?? true
    if !isVisible, event.stateKey != nil, !events.isEmpty { hidesState = true }
    if !isIgnored, isVisible, interval.filter.matches(event) {
      guard events.count < interval.limit, !hidesState else {
        isLimited = true
        return false
      }
      events.append(event)
    }
    scanned += 1
    reached = event.position - 1
    if scanned == Self.scanLimit { isLimited = true }
    return !isLimited
  }
}
