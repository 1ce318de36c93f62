import Database
import Testing

@testable import ServerRooms

/// A table that names rooms or events must say what happens to its rows when those go. New tables are decided here.
@Suite struct RoomRowsTests {
  private static let goes: [String: [StaticString]] = [
    "purge": RoomRows.atOnce + RoomRows.ofRoom, "member": RoomRows.ofMember + RoomRows.ofMemberByRoomID,
    "event": RoomRows.ofEvent + [RoomRows.unreadCheckpoint]
  ]

  /// Tables with a column that names a room, and why rows outlive a purge; nil where they go with it.
  private static let rooms: [String: String?] = [
    "room": nil, "event": nil, "forward_extremity": nil, "current_state": nil, "state_change": nil, "membership": nil,
    "room_alias": nil, "slow_mode_send": nil, "receipt": nil, "unread_checkpoint": nil, "account_data": nil,
    "hidden_room": nil, "public_room": nil, "public_room_list": nil, "open_room": nil, "event_relation": nil,
    "room_thread": nil, "delayed_event": nil, "direct_room": nil,
    "mail_queue": nil, "mail_room": nil,
    "full_text": "the engine's own statements delete it: removeFullText, which the purge calls",
    "invite_link": "a link to a room that is gone is not valid; forgetOld deletes it",
    "bulk_item": "leaving a room that is gone is done; forgetFinished deletes it",
    "notice_room": "the next notice to the user makes another room",
    "blocked_room": "a block holds whether the room is there or not",
    "purged_room": "it is the record of the purge; forgetOldPurges deletes it",
    "purged_membership": "it tells clients of the purge; forgetOldPurges deletes it",
    "report": "administrators read it after the room is gone, often because of it",
    "key_backup_key": "the keys are the user's, encrypted, and the server cannot say what they are still good for"
  ]

  /// Tables with a column that names an event other than by its room, and why rows outlive a purge of the history.
  private static let events: [String: String?] = [
    "event": nil, "event_relation": nil, "room_thread": nil, "unread_checkpoint": nil,
    "full_text": "the engine's own statements delete it: removeFullText, which the purge of history calls",
    "membership": "state stays", "current_state": "state stays", "state_change": "state stays",
    "forward_extremity": "the next event refers to it by its ID alone",
    "receipt": "how far somebody has read holds for the events after it",
    "sent_transaction": "a repeated request gets its old answer; forgetOldTransactions deletes it",
    "push_queue": "pushers pass over what is gone and delete it",
    "mail_queue": "pushers pass over what is gone and delete it",
    "delayed_event": "it is the record of what was sent; forgetFinalised deletes it",
    "sent_notice": "a repeated request gets its old answer",
    "report": "administrators read it after the event is gone"
  ]

  private func tables(withColumns names: Set<String>) async throws -> Set<String> {
    let fixture = try RoomsFixture()
    let columns = try await fixture.database.read { transaction in
      try transaction.all(
        """
        SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'full_text_%'
        """
      ) { (table: $0.text(0), column: $0.text(1)) }
    }
    #expect(columns.count > 100)
    return Set(columns.filter { names.contains($0.column) }.map(\.table))
  }

  private func deletes(_ table: String, _ statements: [StaticString]) -> Bool {
    statements.contains { "\($0) ".contains("DELETE FROM \(table) ") }
  }

  @Test func `every table that names rooms says what a purge does to it`() async throws {
    let found = try await tables(withColumns: ["room", "room_id", "scope"]).subtracting(["sent_transaction"])
    #expect(found == Set(Self.rooms.keys), "decide what a purge does to the rows: RoomRows, or a reason here")
    let statements = Self.goes["purge", default: []] + Self.goes["member", default: []]
    for (table, reason) in Self.rooms { #expect(deletes(table, statements) == (reason == nil), "\(table)") }
  }

  @Test func `every table that names events says what the end of the history does to it`() async throws {
    // `document` of the full text is its rowid, `counts` of a checkpoint are of events.
    let found = try await tables(withColumns: ["event", "event_id", "parent", "root", "redacted_by", "counts", "scope"])
    #expect(found == Set(Self.events.keys), "decide what becomes of the rows: RoomRows.ofEvent, or a reason here")
    let statements = Self.goes["event", default: []]
    for (table, reason) in Self.events { #expect(deletes(table, statements) == (reason == nil), "\(table)") }
  }
}
