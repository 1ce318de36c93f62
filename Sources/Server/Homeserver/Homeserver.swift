import Database
import MatrixModel
import RoomRules
import Telemetry

/// The domain of one homeserver: accounts, rooms, sync and what belongs to them. No HTTP.
///
/// A *command* is one `Database.write`: it looks at snapshots and rows, decides, writes rows, stages the new snapshot. Nothing
/// is visible before the commit: `afterCommit` publishes to the caches, `afterPublish` wakes who waits.
/// A *query* reads immutable snapshots and, where they end, one read transaction.
package final class Homeserver: Sendable {
  package let configuration: HomeserverConfiguration
  package let database: Database
  package let notifier: Notifier
  package let log: Log

  /// Opens the database in `configuration.dataDirectory` and brings its schema up to date.
  package init(_ configuration: HomeserverConfiguration, log: Log) throws {
    self.configuration = configuration
    self.log = log
    database = try Database(configuration.database, migrations: Schema.migrations)
    notifier = Notifier(startPosition: database.committedPosition)
  }
}
