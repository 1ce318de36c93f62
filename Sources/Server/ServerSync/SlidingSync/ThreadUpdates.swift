import JSON
import MatrixModel
import ServerRooms

/// Threads with news the client has not been shown otherwise. Spec: MSC4360.
struct ThreadUpdates {
  struct Update {
    let room: RoomSnapshot
    let root: EventID
    /// nil where the root is not asked for, or may not be seen.
    var rootEvent: StoredEvent?
    /// The place before the thread's newest event; nil where that is the only new one.
    var previous: TimelineToken?
    /// Of the thread's newest event.
    let position: Int64
  }

  /// Threads of one answer, and events looked at in one room.
  static let limit = 100
  private static let scanLimit = 1_000

  /// The newest first.
  private(set) var updates: [Update] = []
  /// Where older ones go on; nil where there are none.
  private(set) var next: Int64?

  var isEmpty: Bool { updates.isEmpty }

  /// What happened since the connection's last answer. Without roots, what is in the timelines of `told` counts as shown.
  init(
    _ wanted: SlidingExtensionRequest.Threads, since: Int64, told: [SlidingRoom], _ context: SlidingContext
  ) throws {
    var shown: Set<Int64> = []
    if !wanted.includesRoots {
      for room in told { for event in room.inside?.timeline.events ?? [] { shown.insert(event.position) } }
    }
    let rooms = try context.watch.rooms(withEventsAfter: since).compactMap { try context.sync.room($0) }
      .filter { $0.isJoined(context.user) }
    try gather(
      rooms, after: since, upTo: context.sync.to.position, for: context.user, ignoring: context.account.ignored, shown,
      includesRoots: wanted.includesRoots, limit: wanted.limit, context.rows)
  }

  /// What happened in an interval, for `GET /thread_updates`.
  init(
    in rooms: [RoomSnapshot], after start: Int64, upTo end: Int64, for user: UserID, ignoring ignored: Set<UserID>, limit: Int,
    _ rows: SyncRows
  ) throws {
    try gather(
      rooms, after: start, upTo: end, for: user, ignoring: ignored, [], includesRoots: true, limit: min(limit, Self.limit), rows
    )
  }

  private mutating func gather(
    _ rooms: [RoomSnapshot], after start: Int64, upTo end: Int64, for user: UserID, ignoring ignored: Set<UserID>,
    _ shown: Set<Int64>, includesRoots: Bool, limit: Int, _ rows: SyncRows
  ) throws {
    for room in rooms where room.position > start {
      var own: [EventID: Update] = [:]
      for event in try Self.events(of: room, after: start, upTo: end, rows) {
        guard let root = event.thread, !ignored.contains(event.sender), !shown.contains(event.position) else { continue }
        if own[root] != nil {
          if own[root]?.previous == nil, let newest = own[root]?.position {
            own[root]?.previous = TimelineToken(position: newest - 1)
          }
        } else {
          own[root] = Update(room: room, root: root, position: event.position)
        }
      }
      updates += own.values
    }
    updates.sort { $0.position > $1.position }
    if updates.count > limit {
      updates.removeLast(updates.count - limit)
      next = updates.last.map { $0.position - 1 }
    }
    guard includesRoots else { return }
    for index in updates.indices {
      let view = try RoomView(
        updates[index].room, user: user, in: try rows.transaction(), expiry: .min)
      let event = try rows.loader().event(updates[index].root)
      if let event, event.room == updates[index].room.number, view.canSee(event) { updates[index].rootEvent = event }
    }
  }

  /// Newest first.
  private static func events(
    of room: RoomSnapshot, after start: Int64, upTo end: Int64, _ rows: SyncRows
  ) throws -> [StoredEvent] {
    let events =
      room.tailCovers(after: start)
      ? room.tail.reversed() : try rows.loader().events(in: room.number, before: end + 1, limit: scanLimit)
    return events.filter { $0.position > start && $0.position <= end && $0.stateKey == nil }
  }

  // MARK: Writing

  /// As the extension has it: `updates` and `prev_batch`.
  func write(to writer: inout JSONWriter, key: StaticString, _ events: EventWriting) {
    writer.key(key)
    writer.object { writer in
      writer.key("updates")
      writeUpdates(to: &writer, events)
      if let next { writer.member("prev_batch", TimelineToken(position: next).text) }
    }
  }

  /// By room and root.
  func writeUpdates(to writer: inout JSONWriter, _ events: EventWriting) {
    var byRoom: [RoomID: [Update]] = [:]
    for update in updates { byRoom[update.room.roomID, default: []].append(update) }
    writer.object { writer in
      for (room, updates) in byRoom {
        writer.key(room)
        writer.object { writer in
          for update in updates {
            writer.key(update.root)
            writer.object { writer in
              if let event = update.rootEvent {
                writer.key("thread_root")
                events.write(event, in: update.room, to: &writer)
              }
              if let previous = update.previous { writer.member("prev_batch", previous.text) }
            }
          }
        }
      }
    }
  }
}
