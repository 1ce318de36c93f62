import CSQLite

/// Copies the write-ahead log into the database: beside the writer as long as that keeps the log short, with the writer
/// waiting when it does not. Checkpoints are what the slowest commits wait for (Documentation: storage design, "SQLite").
///
/// Unchecked: `connection` belongs to the checkpoint thread, `noticedPages` to the writer's.
final class Checkpointer: @unchecked Sendable {
  private let connection: Connection
  private let requests = BoundedQueue<Void>(limit: 1)
  private let pages: Int
  private let busyTimeoutMilliseconds: Int32
  private var noticedPages = 0
  private var thread: WorkerThread?

  init(_ configuration: DatabaseConfiguration) throws(DatabaseError) {
    connection = try Connection(configuration, as: .checkpointer)
    pages = max(1, configuration.checkpointPages)
    busyTimeoutMilliseconds = configuration.busyTimeoutMilliseconds
    let (connection, requests) = (UncheckedConnection(value: connection), requests)
    thread = WorkerThread {
      var request: [Void] = []
      while requests.take(upTo: 1, into: &request) {
        request.removeAll(keepingCapacity: true)
        sqlite3_wal_checkpoint_v2(connection.value.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      }
    }
  }

  /// After each commit, on the writer's thread and connection. `stopped` is called when the writer itself had to help.
  func logHasGrown(on writer: Connection, stopped: () -> Void) {
    let now = writer.logPages
    if now < noticedPages { noticedPages = 0 }  // the log began anew
    guard now > pages, now > noticedPages + pages / 2 else { return }
    noticedPages = now
    if now > pages * 4 {
      // Only until readers of old pages are done, and not long: their transactions are short, the writer's time is dear.
      sqlite3_busy_timeout(writer.handle, 50)
      sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
      sqlite3_busy_timeout(writer.handle, busyTimeoutMilliseconds)
      stopped()
    } else {
      // Refused while a request is already waiting: that one will see the newer pages too.
      do throws(DatabaseError) { try requests.add(()) } catch {}
    }
  }

  /// At the end, on the writer's thread: everything into the database, the log emptied.
  func finish(on writer: Connection) {
    requests.close()
    thread?.join()
    connection.close()
    sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
  }

  /// Hands the connection to the one thread that uses it from then on.
  private struct UncheckedConnection: @unchecked Sendable { let value: Connection }
}
