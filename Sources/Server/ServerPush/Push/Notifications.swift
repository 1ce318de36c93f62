import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import ServerSync

/// What a user was notified of, or would have been had they a pusher: found in the events when asked for.
///
/// Nothing is written when an event comes, so that it costs the sender nothing: as with unread counts the reader pays.
/// Spec: Client-Server API, `GET /notifications`.
package final class Notifications: Sendable {
  package struct Entry: Sendable {
    let event: StoredEvent
    let roomID: RoomID
    let actions: [UInt8]
    let isRead: Bool
  }

  package struct Page: Sendable {
    /// Newest first.
    package let entries: [Entry]
    /// The start of the next page; nil on the last page.
    package let next: Int64?
  }

  package static let defaultLimit = 20
  package static let limitLimit = 100
  /// Events looked at for one page; where they bring too few, the page is short and the next goes on from there.
  static let scanLimit = 5_000
  private static let batchLimit = 50

  /// One room on the way back in time.
  private struct Trail {
    let room: RoomSnapshot
    /// The user's join: what was before is not theirs.
    let start: Int64
    var head: Int64
    var events: ArraySlice<StoredEvent> = []
  }

  private let database: Database
  private let sources: SyncSources
  private let clock: WallClock
  private let ageMillisecondsLimit: Int64

  package init(database: Database, sources: SyncSources, clock: WallClock, ageMillisecondsLimit: Int64) {
    self.database = database
    self.sources = sources
    self.clock = clock
    self.ageMillisecondsLimit = ageMillisecondsLimit
  }

  /// - Parameters:
  ///   - token: `next_token` of the page before.
  ///   - limit: entries at most, up to `limitLimit`.
  /// - Throws: `M_INVALID_PARAM` for another token.
  package func page(of user: UserID, from token: ByteString?, limit: Int?, onlyHighlights: Bool) async throws -> Page {
    var before = Int64.max
    if let token {
      guard let position = Int64(token.string), position > 0 else {
        throw MatrixError.invalidParameter("'from' is not the next_token of a page before.")
      }
      before = position
    }
    let limit = min(max(limit ?? Self.defaultLimit, 1), Self.limitLimit)
    let committed = database.committedPosition
    return try await database.read { [self, before] tx in
      try page(of: user, before: before, limit, onlyHighlights, SyncRows(tx, completeUpTo: committed))
    }
  }

  private func page(
    of user: UserID, before: Int64, _ limit: Int, _ onlyHighlights: Bool, _ rows: SyncRows
  ) throws -> Page {
    let tx = try rows.transaction()
    let rules = try sources.pushRules.rules(tx, of: user)
    let oldest = clock.now() - ageMillisecondsLimit
    var trails = try self.trails(of: user, before: before, tx)
    var entries: [Entry] = []
    var last: Int64?
    for _ in 0..<Self.scanLimit {
      guard let (event, room) = try Self.newest(&trails, tx, since: oldest) else {
        return Page(entries: entries, next: nil)
      }
      // One more than fits says that there is a next page.
      if entries.count == limit { return Page(entries: entries, next: last) }
      last = event.position
      let displayName = room.members[user]?.event.content["displayname"]?.text
      guard let actions = PushEvaluator(event, in: room).actions(of: rules, displayName: displayName), actions.notifies,
        actions.highlights || !onlyHighlights, try !IgnoredUsers.of(user, in: tx).contains(event.sender)
      else { continue }
      let read = try sources.receipts.readPositions(of: user, in: room.number, rows)
      entries.append(
        Entry(
          event: event, roomID: room.roomID, actions: actions.json,
          isRead: read.hasRead(event.position, in: event.thread?.text ?? "main")))
    }
    return Page(entries: entries, next: last)
  }

  private func trails(of user: UserID, before: Int64, _ tx: ReadTransaction) throws -> [Trail] {
    var trails: [Trail] = []
    for (number, entry) in try sources.rooms.memberships.rooms(of: user, in: tx) where entry.membership == .join {
      guard let room = try sources.rooms.cache.snapshot(of: number, in: tx), let member = room.members[user] else { continue }
      let head = try tx.first(
        "SELECT position FROM event WHERE room = $1 AND position < $2 ORDER BY position DESC LIMIT 1", number, before
      ) { $0.integer(0) }
      guard let head else { continue }
      trails.append(Trail(room: room, start: try room.join(of: member.event, tx), head: head))
    }
    return trails
  }

  /// Takes the newest event off the trails; ends those that go back too far.
  private static func newest(
    _ trails: inout [Trail], _ tx: ReadTransaction, since oldest: Int64
  ) throws -> (StoredEvent, RoomSnapshot)? {
    while let index = trails.indices.max(by: { trails[$0].head < trails[$1].head }) {
      var trail = trails[index]
      if trail.events.isEmpty {
        trail.events = try RoomLoader(transaction: tx).events(
          in: trail.room.number, before: trail.head + 1, limit: batchLimit)[...]
      }
      guard let event = trail.events.popFirst(), event.position > trail.start, event.timestamp >= oldest else {
        trails.remove(at: index)
        continue
      }
      trail.head = trail.events.first?.position ?? event.position - 1
      trails[index] = trail
      return (event, trail.room)
    }
    return nil
  }
}

extension Notifications.Page {
  package func write(to writer: inout JSONWriter, for reader: EventReader) {
    writer.object { writer in
      if let next { writer.member("next_token", String(next)) }
      writer.key("notifications")
      writer.array { writer in for entry in entries { entry.write(to: &writer, for: reader) } }
    }
  }
}

extension Notifications.Entry {
  fileprivate func write(to writer: inout JSONWriter, for reader: EventReader) {
    writer.object { writer in
      writer.member("actions", raw: actions)
      writer.key("event")
      event.write(to: &writer, for: reader)
      writer.member("read", isRead)
      writer.member("room_id", roomID)
      writer.member("ts", event.timestamp)
    }
  }
}
