import JSON
import MatrixModel

/// How much history the store keeps: of a room, and of all.
extension Client {
  /// A page of older events behind its place, in the store too. `events` have the oldest first.
  mutating func storePage(_ events: [JSON], at edge: SegmentEdge, isLimited: Bool, end: ByteString?, in id: RoomID)
    -> SegmentEdge
  {
    var new = SegmentEdge(token: end, position: nil, isLimited: isLimited)
    guard let room = rooms[id], room.state.history.events < Limits.storedEvents, let position = edge.position?.older
    else { return new }
    if let first = room.firstSegment {
      guard let behind = edge.position, behind >= first else { return new }
      if behind == first { rooms[id]?.firstSegment = position }
    }
    new.position = position
    rooms[id]?.state.history.lastBlock = max(room.state.history.lastBlock, position.block)
    rooms[id]?.state.history.events += events.count
    storedEvents.count += events.count
    guard let state = rooms[id]?.state else { return new }
    let record = Segment.record(isLimited: isLimited, token: end) { writer in for json in events { writer.write(json) } }
    if state.countsUnread { recountUnread(id) }
    write([
      .put(key: StoreKey.segment(position, of: id), value: record), .put(key: StoreKey.room(id), value: state.record(of: id))
    ])
    return new
  }

  /// Reads the oldest segments of the rooms that have too many, to drop them.
  mutating func dropStoredHistory(of sync: PreparedSync) {
    for room in sync.rooms where room.state.history.events > Limits.storedEvents + Limits.storedEvents / 10 {
      dropSegments(of: room.id, keepingEvents: Limits.storedEvents)
    }
    if storedEvents.quietRooms.isEmpty, storedEvents.count > storedEvents.limit { chooseQuietRooms() }
    if let quietest = storedEvents.quietRooms.popLast() {
      dropSegments(of: quietest, keepingEvents: Limits.storedEventsOfQuietRoom)
    }
  }

  /// The rooms that give up their history, the one without news for the longest time last, until a tenth of all is free.
  /// They are dropped one a sync; once none is left that could, the next are looked for a little later.
  private mutating func chooseQuietRooms() {
    storedEvents.limit = storedEvents.count + storedEvents.bound / 100
    var candidates: [(id: RoomID, activity: Int64, events: Int)] = []
    for (id, room) in rooms where room.state.history.events > Limits.storedEventsOfQuietRoom * 2 {
      candidates.append((id, room.state.lastActivity, room.state.history.events))
    }
    var left = storedEvents.count - storedEvents.bound / 10 * 9
    storedEvents.quietRooms = []
    for candidate in candidates.ordered(by: { $0.activity < $1.activity }) where left > 0 {
      storedEvents.quietRooms.append(candidate.id)
      left -= candidate.events - Limits.storedEventsOfQuietRoom
    }
    storedEvents.quietRooms.reverse()
  }

  private mutating func dropSegments(of id: RoomID, keepingEvents count: Int) {
    guard let room = rooms[id], !room.isDroppingSegments else { return }
    rooms[id]?.isDroppingSegments = true
    load(
      StoreRange(prefix: StoreKey.timeline(of: id), limit: Limits.droppedSegments),
      .oldestSegments(id, keptEvents: count))
  }

  /// The oldest first. A room begins with a segment from which the client can page back, or keeps what it has.
  mutating func oldestSegmentsLoaded(_ id: RoomID, keptEvents: Int, _ records: [StoreRecord]) {
    guard let history = rooms[id]?.state.history else { return }
    rooms[id]?.isDroppingSegments = false
    var spare = history.events - keptEvents
    var eventCount = 0
    var cut: (count: Int, events: Int, first: SegmentPosition)?
    for (i, record) in records.enumerated() {
      let segment = Segment(record)
      if let segment, segment.edge.token != nil { cut = (i, eventCount, segment.position) }
      let count = segment?.events.count ?? 0
      if count > spare { break }
      spare -= count
      eventCount += count
    }
    // Without any the room is left alone for as long as the process lives.
    guard let cut, cut.count > 0 else {
      rooms[id]?.isDroppingSegments = history.events > keptEvents
      return
    }
    rooms[id]?.firstSegment = cut.first
    rooms[id]?.state.history.events = max(0, history.events - cut.events)
    storedEvents.count -= history.events - (rooms[id]?.state.history.events ?? 0)
    storedEvents.limit = max(storedEvents.bound, min(storedEvents.limit, storedEvents.count))
    var operations: [StoreOperation] = records.prefix(cut.count).map { .delete(key: $0.key) }
    if let state = rooms[id]?.state { operations.append(.put(key: StoreKey.room(id), value: state.record(of: id))) }
    write(operations)
    if history.events - cut.events > keptEvents, records.count == Limits.droppedSegments {
      dropSegments(of: id, keepingEvents: keptEvents)
    }
  }
}
