import Database
import ServerAccounts
import ServerDirectory
import ServerMedia
import ServerPush
import ServerRooms

/// Every table of the server. A chapter keeps its tables in `…Tables.statements`; this is the list of chapters. Until the
/// first release there is one migration, afterwards each change is a new one.
package enum Schema {
  private static let chapters = [
    RoomTables.statements,
    AccountTables.statements,
    DeviceTables.statements,
    AccountDataTables.statements,
    IdentityTables.statements,
    InviteLinkTables.statements,
    KeyBackupTables.statements,
    MediaTables.statements,
    PreviewTables.statements,
    ReceiptTables.statements,
    DirectoryTables.statements,
    PresenceTables.statements,
    HiddenRoomTables.statements,
    RelationTables.statements,
    SearchTables.statements,
    DelayedEventTables.statements,
    DirectRoomTables.statements,
    BulkTables.statements,
    PushTables.statements,
    AppServiceTables.statements,
    AdministrationTables.statements
  ]

  /// - Parameter tables: statements of modules above, whose rows lie in the same database.
  package static func migrations(with tables: [String] = []) -> [Migration] {
    [Migration(version: 1, name: "foundation", statements: chapters.flatMap { $0 } + tables)]
  }
}
