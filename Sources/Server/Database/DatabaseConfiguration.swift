import Glibc

/// Where the database is and how much it may use.
package struct DatabaseConfiguration: Sendable {
  /// How far a commit is pushed before its callers hear of it.
  package enum Synchronous: String, Sendable, CaseIterable {
    /// The write-ahead log is synced with every group commit: an acknowledged write survives loss of power.
    case full
    /// Synced at checkpoints only: survives the death of the process, not of the machine.
    case normal
  }

  /// Where the rows are.
  package enum Place: Sendable {
    /// An SQLite file. It is created with mode 0600; its folder must exist.
    case file(String)
    /// A database of a PostgreSQL server. It must exist; its encoding is UTF8 and its collation C.
    case server(PostgreSQLAddress)
  }

  package var place: Place
  /// nil where this server has the database alone.
  package var node: NodeConfiguration?
  /// By which nodes hear of each other at once; nil for notifications of PostgreSQL.
  package var bus: BusConfiguration?
  package var synchronous: Synchronous = .full
  /// Reader threads, each with a connection of its own; at least 1. With PostgreSQL they wait for a network, so there are more.
  package var readerCount = 2
  /// SQLite: page cache of each connection, an upper bound. Little, as there are several and what they drop is nearly always in the
  /// system's cache still.
  package var cacheBytes = 16 << 20
  /// SQLite: how long a statement waits for a lock another process holds.
  package var busyTimeoutMilliseconds: Int32 = 5_000
  /// Waiting write jobs beyond which `write` throws `.overloaded`.
  package var writeQueueLimit = 8_192
  /// Waiting read jobs beyond which `read` throws `.overloaded`.
  package var readQueueLimit = 8_192
  /// Jobs that share one commit at most.
  package var batchLimit = 512
  /// SQLite: pages in the write-ahead log after which it is copied into the database, between two commits; at four
  /// times as many that waits for readers.
  package var checkpointPages = 4_000
  /// Each write job is run, undone and run again, and only then counts. For tests: a job that may run again leaves nothing behind when it is
  /// undone. `MARTLET_DATABASE_TWICE=1` says so for all databases of the process.
  package var rehearsesJobs = getenv("MARTLET_DATABASE_TWICE") != nil

  /// Called on a database thread; must not block.
  package var report: @Sendable (DatabaseIncident) -> Void = { _ in }
  /// Shared by all connections of a `Database`; nil for connections of commands.
  var presence: DatabasePresence?

  package init(path: String) { place = .file(path) }

  package init(server: PostgreSQLAddress) {
    place = .server(server)
    readerCount = 8
  }

  /// The file's path, or the server's address without user and password.
  package var name: String {
    switch place {
    case .file(let path): path
    case .server(let address): address.description
    }
  }

  /// nil if there is no file.
  package var path: String? {
    if case .file(let path) = place { path } else { nil }
  }
}
