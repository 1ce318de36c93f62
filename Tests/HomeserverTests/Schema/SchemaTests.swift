import Database
import Testing

@testable import Homeserver

@Suite struct SchemaTests {
  @Test func `every table is STRICT`() async throws {
    let fixture = try RoomsFixture()
    let loose = try await fixture.database.read { transaction in
      try transaction.all(
        """
        SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND strict = 0 AND substr(name, 1, 7) <> 'sqlite_'
        """
      ) { $0.text(0) }
    }
    #expect(loose == [])
  }

  /// `BIGINT PRIMARY KEY` would be one more index, written with every message.
  @Test func `a message is one row and three index entries`() async throws {
    let fixture = try RoomsFixture()
    let indexes = try await fixture.database.read { transaction in
      try transaction.all("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'event' ORDER BY name") {
        $0.text(0)
      }
    }
    #expect(indexes == ["event_room", "event_timestamp", "sqlite_autoindex_event_1"])
  }
}
