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

  /// The database file. It is created with mode 0600; its folder must exist.
  package var path: String
  package var synchronous: Synchronous = .full
  /// Reader threads, each with a connection of its own; at least 1.
  package var readerCount = 2
  /// Page cache of each connection, an upper bound. Little, as there are several and what they drop is nearly always in the
  /// system's cache still.
  package var cacheBytes = 16 << 20
  /// How long a statement waits for a lock another process holds.
  package var busyTimeoutMilliseconds: Int32 = 5_000
  /// Waiting write jobs beyond which `write` throws `.overloaded`.
  package var writeQueueLimit = 8_192
  /// Waiting read jobs beyond which `read` throws `.overloaded`.
  package var readQueueLimit = 8_192
  /// Jobs that share one commit at most.
  package var batchLimit = 512
  /// Pages in the write-ahead log after which it is copied into the database, between two commits; at four
  /// times as many that waits for readers.
  package var checkpointPages = 4_000
  /// Each write job is run, undone and run again, and only then counts. For tests: a job that may run again leaves nothing behind when it is
  /// undone. `MARTLET_DATABASE_TWICE=1` says so for all databases of the process.
  package var rehearsesJobs = getenv("MARTLET_DATABASE_TWICE") != nil

  package init(path: String) { self.path = path }
}
