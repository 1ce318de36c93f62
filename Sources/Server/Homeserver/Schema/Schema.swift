import Database
import ServerAccounts
import ServerDirectory
import ServerMedia
import ServerPush
import ServerRooms

/// Every table of the server. A chapter keeps its tables in `…Tables.statements`; this is the list of chapters. Data folders are in use: what
/// comes to the foundation is a migration of its own, which an older folder takes when the server opens it.
package enum Schema {
  private static let chapters = [
    RoomTables.statements,
    AccountTables.statements,
    DeviceTables.statements,
    AccountDataTables.statements,
    IdentityTables.statements,
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

  /// What makes the server build anew, at its next start, what it has made of other rows.
  package static let rebuilding = SearchTables.rebuilding

  /// - Parameter tables: statements of modules above, whose rows lie in the same database.
  package static func migrations(with tables: [String] = []) -> [Migration] {
    [
      Migration(version: 1, name: "foundation", statements: chapters.flatMap { $0 } + tables),
      Migration(
        version: 2, name: "invite links and daily figures",
        statements: InviteLinkTables.statements + AdministrationTables.dailyStatements),
      Migration(version: 3, name: "claimed one-time keys", statements: DeviceTables.claimedKeyStatements),
      Migration(version: 4, name: "media objects", statements: MediaTables.objectStatements),
      Migration(version: 5, name: "nodes of uploads", statements: MediaTables.nodeStatements)
    ]
  }
}
