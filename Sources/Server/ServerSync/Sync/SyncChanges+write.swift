import JSON
import MatrixModel
import ServerCore
import ServerRooms

extension SyncChanges {
  /// Writes the answer; sections with nothing in them are left out.
  func write(to writer: inout JSONWriter, _ context: SyncContext, nextBatch: SyncToken, now: Int64) {
    let events = EventWriting(
      reader: EventReader(userID: context.user, deviceID: context.request.deviceID, now: now),
      fields: context.filter.eventFields, federation: context.filter.usesFederationFormat ? federation : nil)
    writer.object { writer in
      writer.member("next_batch", nextBatch.text)
      writer.rawMembers(keyCounts.members)
      if !accountData.isEmpty { writer.section("account_data", accountData) { $0.write(to: &$1) } }
      if !presence.events.isEmpty {
        writer.section("presence", presence.events) { PresenceStream.write($0, now: now, to: &$1) }
      }
      if !toDevice.messages.isEmpty { writer.section("to_device", toDevice.messages) { $0.write(to: &$1) } }
      if !deviceLists.isEmpty { deviceLists.write(to: &writer) }
      writeRooms(to: &writer, context, events)
    }
  }

  /// The answer where nothing happened.
  static func idle(_ keyCounts: [UInt8], nextBatch: SyncToken) -> [UInt8] {
    var writer = JSONWriter(capacity: keyCounts.count + 80)
    writer.object { writer in
      writer.member("next_batch", nextBatch.text)
      writer.rawMembers(keyCounts)
    }
    return writer.bytes
  }

  private func writeRooms(to writer: inout JSONWriter, _ context: SyncContext, _ events: EventWriting) {
    let invited = stripped.filter { $0.membership == .invite }
    let knocked = stripped.filter { $0.membership == .knock }
    guard !joined.isEmpty || !left.isEmpty || !purged.isEmpty || !stripped.isEmpty else { return }
    writer.key("rooms")
    writer.object { writer in
      if !joined.isEmpty {
        writer.rooms("join", joined, { $0.room.roomID }) { $0.write(to: &$1, context, events) }
      }
      if !invited.isEmpty { writer.rooms("invite", invited, { $0.room.roomID }) { $0.write(to: &$1) } }
      if !knocked.isEmpty { writer.rooms("knock", knocked, { $0.room.roomID }) { $0.write(to: &$1) } }
      writeLeft(to: &writer, context, events)
    }
  }
}

extension SyncChanges {
  private func writeLeft(to writer: inout JSONWriter, _ context: SyncContext, _ events: EventWriting) {
    guard !left.isEmpty || !purged.isEmpty else { return }
    writer.key("leave")
    writer.object { writer in
      for room in left {
        writer.key(room.room.roomID)
        room.write(to: &writer, context, events)
      }
      for roomID in purged {
        writer.key(roomID)
        writer.object { writer in
          writer.member("timeline", raw: Array(#"{"events":[],"limited":false}"#.utf8))
          writer.member(context.request.usesStateAfter ? "state_after" : "state", raw: Array(#"{"events":[]}"#.utf8))
        }
      }
    }
  }
}

/// How room events are written for one device.
struct EventWriting {
  var reader: EventReader
  let fields: [PropertyPath]?
  /// By position, where events are told as servers exchange them.
  let federation: [Int64: [UInt8]]?

  /// With what the events of one room tell of those that relate to them.
  func with(_ aggregations: Aggregations) -> EventWriting {
    var copy = self
    copy.reader.aggregations = aggregations
    return copy
  }

  func write(
    _ event: StoredEvent, in room: RoomSnapshot, membership: Membership? = nil, to writer: inout JSONWriter
  ) {
    guard let fields else { return writeWhole(event, in: room, membership, to: &writer) }
    var whole = JSONWriter(capacity: event.shared.count + 128)
    writeWhole(event, in: room, membership, to: &whole)
    guard let json = try? JSON.parse(whole.bytes) else { return writer.raw(whole.bytes) }
    EventFields(fields).write(json, to: &writer)
  }

  private func writeWhole(
    _ event: StoredEvent, in room: RoomSnapshot, _ membership: Membership?, to writer: inout JSONWriter
  ) {
    guard let fragment = federation?[event.position] else {
      return event.write(to: &writer, for: reader, membership: membership)
    }
    event.writeFederationFormat(to: &writer, fragment, in: room, for: reader, membership: membership)
  }
}

extension JoinedRoom {
  /// `state` and `timeline` are there also when empty: optional in the standard, but clients in use take them for given.
  fileprivate func write(to writer: inout JSONWriter, _ context: SyncContext, _ events: EventWriting) {
    writer.object { writer in
      writer.timeline(timeline, in: room, events.with(aggregations))
      writer.section(context.request.usesStateAfter ? "state_after" : "state", state) { events.write($0, in: room, to: &$1) }
      if let summary {
        writer.key("summary")
        summary.write(to: &writer)
      }
      if !ephemeral.isEmpty { writer.section("ephemeral", ephemeral) { $1.raw($0) } }
      if !accountData.isEmpty { writer.section("account_data", accountData) { $0.write(to: &$1) } }
      writeUnread(to: &writer, byThread: context.filter.timeline.unreadThreadNotifications)
    }
  }

  private func writeUnread(to writer: inout JSONWriter, byThread: Bool) {
    writer.key("unread_notifications")
    (byThread ? unread.main : unread.total).write(to: &writer)
    guard byThread else { return }
    let threads = unread.threads.filter { $0.key != UnreadCounts.mainThread }
    guard !threads.isEmpty else { return }
    writer.key("unread_thread_notifications")
    writer.object { writer in
      for (thread, count) in threads {
        writer.key(thread)
        count.write(to: &writer)
      }
    }
  }
}

extension UnreadCounts.Count {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("highlight_count", highlights)
      writer.member("notification_count", notifications)
    }
  }
}

extension LeftRoom {
  /// `state` is there also when empty: matrix-nio reads no sync that has a left room without it.
  fileprivate func write(to writer: inout JSONWriter, _ context: SyncContext, _ events: EventWriting) {
    writer.object { writer in
      writer.timeline(timeline, in: room, events.with(aggregations))
      writer.section(context.request.usesStateAfter ? "state_after" : "state", state) { events.write($0, in: room, to: &$1) }
      if !accountData.isEmpty { writer.section("account_data", accountData) { $0.write(to: &$1) } }
    }
  }
}

extension JSONWriter {
  /// `"key":{"events":[…]}`
  fileprivate mutating func section<Element>(
    _ key: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
  ) {
    self.key(key)
    beginObject()
    self.key("events")
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
    endObject()
  }

  fileprivate mutating func rooms<Room>(
    _ key: StaticString, _ rooms: [Room], _ roomID: (Room) -> RoomID, _ write: (Room, inout JSONWriter) -> Void
  ) {
    self.key(key)
    beginObject()
    for room in rooms {
      self.key(roomID(room))
      write(room, &self)
    }
    endObject()
  }

  fileprivate mutating func timeline(_ timeline: RoomTimeline, in room: RoomSnapshot, _ events: EventWriting) {
    key("timeline")
    beginObject()
    key("events")
    beginArray()
    for event in timeline.events {
      events.write(event, in: room, membership: timeline.membership(at: event), to: &self)
    }
    endArray()
    member("limited", timeline.isLimited)
    member("prev_batch", TimelineToken(position: timeline.start).text)
    endObject()
  }
}
