/// Counters since the database was opened, for metrics.
package struct DatabaseStatistics: Sendable, Equatable {
  /// Jobs waiting now.
  package internal(set) var waitingWrites = 0
  package internal(set) var waitingReads = 0
  /// Group commits that succeeded, and that did not.
  package internal(set) var commits = 0
  package internal(set) var failedCommits = 0
  /// Write jobs that were committed, and that threw and were undone. `writes / commits` is the mean batch.
  package internal(set) var writes = 0
  package internal(set) var failedWrites = 0
  package internal(set) var largestBatch = 0
  /// Time spent in COMMIT, all together, and the longest one.
  package internal(set) var commitNanoseconds: UInt64 = 0
  package internal(set) var longestCommitNanoseconds: UInt64 = 0
  /// Ways of the writer to PostgreSQL and back; 0 with SQLite.
  package internal(set) var exchanges = 0
  /// Commits that PostgreSQL did not answer and that turned out to be durable, and not to be.
  package internal(set) var unansweredKept = 0
  package internal(set) var unansweredUndone = 0
  /// Batches that were undone because of one statement, and whose jobs ran again one by one.
  package internal(set) var splitBatches = 0
  /// Times the database was found in another state than this server left it.
  package internal(set) var jumps = 0
  /// Commits of other nodes that this one knows of and has not applied; 0 where there are none.
  package internal(set) var lag = 0
  /// Leases that this node has.
  package internal(set) var leases = 0
  /// Pages in SQLite's write-ahead log after the last commit; 0 with PostgreSQL.
  package internal(set) var logPages = 0
  /// Times the log was copied into the database.
  package internal(set) var checkpoints = 0
}
