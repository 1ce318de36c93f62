/// What a job says of its commit: a value, which everyone who remembers rows applies, on this node and, in a cluster, on all others.
///
/// An object, so that a follower gets at what its class holds by one comparison of types.
package protocol CommitNote: AnyObject, Sendable {
  /// The kind of followers it concerns: see `Database.follow`.
  var kindNumber: UInt8 { get }
  /// Returns the note as another node reads it from its bytes.
  func reread() -> any CommitNote
}

/// Remembers rows, or has somebody wait for some. Called on the writer thread, for one note after the other in the order of commits: must not
/// block, and must not call the database but by `rows`.
package protocol CommitFollower: AnyObject, Sendable {
  /// The rows of the note's commit are durable, `committedPosition` has not moved yet, no caller has resumed. If it throws, `reload` follows.
  func apply(_ note: any CommitNote, _ rows: CommittedRows) throws

  /// All notes of the commit are applied, and `committedPosition` has moved: who is woken finds all of it.
  func wake(_ note: any CommitNote)

  /// What is remembered may be wrong: forgets it or reads it again. If it throws, it is called again at the next commit.
  func reload(_ rows: CommittedRows) throws
}

/// The rows as the last commit left them. A transaction begins when they are first read.
package final class CommittedRows {
  private let connection: Connection

  init(on connection: Connection) { self.connection = connection }

  package func read<Value>(_ body: (ReadTransaction) throws -> Value) throws -> Value {
    if !connection.isInTransaction { try connection.beginReading() }
    return try body(ReadTransaction(on: connection))
  }

  /// Before the next job, which begins a transaction of its own.
  func end() { connection.rollBack() }
}
