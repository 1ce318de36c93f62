import JSON
import MatrixModel
import ServerRooms

/// Typing and receipts of one room, as ready events.
struct EphemeralStream {
  let room: RoomSnapshot
  let context: SyncContext
  /// Users that the client gets no news about.
  let ignored: Set<UserID>

  func changes(isNew: Bool) throws -> [[UInt8]] {
    var events: [[UInt8]] = []
    let filter = context.filter.ephemeral
    guard filter.matches(room: room.roomID) else { return [] }
    if filter.matches(type: .typing, sender: nil, content: nil) {
      let typing = context.sources.rooms.typing.users(in: room.number)
      let seen = isNew ? 0 : context.from?.typing ?? 0
      if isNew ? !typing.users.isEmpty : typing.version > seen {
        events.append(Self.typing(typing.users.filter { !ignored.contains($0) }))
      }
    }
    if filter.matches(type: .receipt, sender: nil, content: nil) {
      let receipts = try context.sources.receipts.changes(
        in: room.number, after: isNew ? 0 : context.since, upTo: context.to.position, for: context.user, context.rows
      ).filter { !ignored.contains($0.user) }
      // A user may have receipts of several threads for one event, and an event of the format has room for one of them.
      let threads = Dictionary(grouping: receipts, by: \.thread).sorted { $0.key < $1.key }
      for (_, receipts) in threads { events.append(Self.receipts(receipts)) }
    }
    return events
  }

  static func typing(_ users: [UserID]) -> [UInt8] {
    var writer = JSONWriter(capacity: 64 + users.count * 32)
    writer.object { writer in
      writer.member("type", EventType.typing)
      writer.key("content")
      writer.object { writer in
        writer.array("user_ids", users) { $1.write($0) }
      }
    }
    return writer.bytes
  }

  /// `{"type":"m.receipt","content":{<event>:{<kind>:{<user>:{"ts":…}}}}}`
  ///
  /// A user's receipts of one kind for one event differ by thread only, and the format has room for one: the unthreaded one
  /// says more.
  static func receipts(_ receipts: [Receipt]) -> [UInt8] {
    var events: [EventID: [Receipt.Kind: [UserID: Receipt]]] = [:]
    for receipt in receipts {
      let known = events[receipt.eventID]?[receipt.kind]?[receipt.user]
      if let known, known.thread.isEmpty { continue }
      events[receipt.eventID, default: [:]][receipt.kind, default: [:]][receipt.user] = receipt
    }
    var writer = JSONWriter(capacity: 64 + receipts.count * 128)
    writer.object { writer in
      writer.member("type", EventType.receipt)
      writer.key("content")
      writer.object { writer in
        for (eventID, kinds) in events {
          writer.key(eventID)
          writer.object { writer in
            for (kind, users) in kinds { write(kind, users, to: &writer) }
          }
        }
      }
    }
    return writer.bytes
  }

  private static func write(_ kind: Receipt.Kind, _ users: [UserID: Receipt], to writer: inout JSONWriter) {
    writer.key(kind.name)
    writer.object { writer in
      for (user, receipt) in users {
        writer.key(user)
        writer.object { writer in
          writer.member("ts", receipt.timestamp)
          if !receipt.thread.isEmpty { writer.member("thread_id", receipt.thread) }
        }
      }
    }
  }
}
