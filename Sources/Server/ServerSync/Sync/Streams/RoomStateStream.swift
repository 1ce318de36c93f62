import MatrixModel
import RoomRules
import ServerRooms

/// State of a room for one answer: all of it as of a place in the timeline, or what changed between two.
struct RoomStateStream {
  let room: RoomSnapshot
  let context: SyncContext

  /// All state as of `position`, without the members where they are loaded lazily.
  func all(at position: Int64) throws -> [StoredEvent] {
    var events: [StoredEvent] = []
    var isPast = false
    func take(_ event: StoredEvent) throws {
      if event.position <= position {
        events.append(event)
      } else if event.replaced != nil {
        isPast = true
      }
    }
    for event in room.state.values { try take(event) }
    if !context.filter.state.lazyLoadsMembers { for (_, member) in room.members { try take(member.event) } }
    if isPast {
      events = try context.rows.loader().state(of: room.number, at: position)
      if context.filter.state.lazyLoadsMembers { events.removeAll { $0.type == .member } }
    }
    return events.sorted { $0.position < $1.position }
  }

  /// The last changes after `start` up to `end`, one event per type and key.
  func changes(after start: Int64, upTo end: Int64) throws -> [StoredEvent] {
    guard start < end else { return [] }
    guard room.tailCovers(after: start) else {
      return try context.rows.loader().stateChanges(of: room.number, from: start, to: end)
    }
    var newest: [StateMapKey: StoredEvent] = [:]
    for event in room.tail where event.position > start && event.position <= end {
      if let key = event.stateKey { newest[StateMapKey(event.type, key)] = event }
    }
    return newest.values.sorted { $0.position < $1.position }
  }

  /// The member events, as of `position`, of `users`.
  func members(_ users: Set<UserID>, at position: Int64) throws -> [StoredEvent] {
    var members: [StoredEvent] = []
    for user in users {
      guard let event = room.members[user]?.event else { continue }
      if event.position <= position {
        members.append(event)
      } else if event.replaced != nil,
        let past = try context.rows.loader().state(of: room.number, .member, user.text, at: position)
      {
        members.append(past)
      }
    }
    return members.sorted { $0.position < $1.position }
  }
}
