import Database
import Testing

@testable import Homeserver

@Suite("Migrations")
struct MigrationTests {
  @Test("a data folder of an older program gets the tables that came since, and keeps what it has")
  func older() throws {
    let folder = TemporaryFolder()
    let configuration = DatabaseConfiguration(path: folder.path + "/martlet.db")
    let foundation = try #require(Schema.migrations().first)
    let old = try Database(configuration, migrations: [foundation])
    _ = try old.writeBlocking { _ = try $0.execute("INSERT INTO notice_room(user_id, room_id) VALUES ('@a:x', '!a')") }
    old.close()
    let database = try Database(configuration, migrations: Schema.migrations())
    let (tables, rooms) = try database.readBlocking { reader in
      (
        try reader.all("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text(0) },
        try reader.all("SELECT room_id FROM notice_room") { $0.text(0) }
      )
    }
    #expect(Set(tables).isSuperset(of: ["invite_link", "invite_link_use", "daily_statistics"]))
    #expect(rooms == ["!a"])
    #expect(try database.readBlocking { try $0.all("SELECT COUNT(claimed) FROM one_time_key") { $0.integer(0) } } == [0])
    database.close()
  }
}
