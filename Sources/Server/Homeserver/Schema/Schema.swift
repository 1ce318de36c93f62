import Database

/// Every table of the server. A chapter keeps its tables in `…Tables.statements`; this is the list of chapters. Until the
/// first release there is one migration, afterwards each change is a new one.
package enum Schema {
  package static let migrations = [
    Migration(
      version: 1, name: "foundation",
      statements: [
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
      ].flatMap { $0 })
  ]
}
