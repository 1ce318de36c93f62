/// One job's share of a group commit, valid inside the closure that receives it. It sees the rows of the jobs before it
/// in the batch. When the closure throws, everything it did here is undone and only its own caller hears of it.
@usableFromInline package final class WriteTransaction: ReadTransaction {
  /// The last position given out, of this job or an earlier one.
  package private(set) var position: Int64

  private var notes: [any CommitNote] = []
  private var rollbackActions: [@Sendable () -> Void] = []

  init(on connection: Connection, position: Int64) {
    self.position = position
    super.init(on: connection)
  }

  /// Runs a statement that returns no rows. A database server is not asked at once: if the statement breaks a rule of its table, this throws,
  /// or a later statement of the job, or `write`.
  @inlinable package func execute<each Parameter: SQLParameter>(
    _ sql: StaticString, _ parameters: repeat each Parameter
  ) throws(DatabaseError) {
    let statement = try connection.take(sql)
    defer { connection.giveBack(statement) }
    var binder = SQLBinder(statement, connection)
    repeat (each parameters).bind(to: &binder)
    try binder.check()
    try connection.queue(statement)
  }

  /// Runs a statement that returns no rows and returns the number of rows it inserted, changed or deleted: waits for the answer.
  @inlinable package func changes<each Parameter: SQLParameter>(
    _ sql: StaticString, _ parameters: repeat each Parameter
  ) throws(DatabaseError) -> Int {
    let statement = try connection.take(sql)
    defer { connection.giveBack(statement) }
    var binder = SQLBinder(statement, connection)
    repeat (each parameters).bind(to: &binder)
    try binder.check()
    return try connection.run(statement)
  }

  /// The next position of the one gapless stream: each is used exactly once, in commit order, across restarts.
  /// Those of a job that throws, or of a commit that fails, are given out again.
  package func nextPosition() -> Int64 {
    position += 1
    return position
  }

  /// Has all that follow its kind apply the note once the rows are durable, in the order of all jobs of the batch: see `Database.follow`.
  /// It is what a commit publishes, and the only thing: other nodes learn of a commit in no other way.
  package func post(_ note: any CommitNote) { notes.append(note) }

  /// Undoes what this job staged in memory. Runs, last registered first, when the job throws (before the next job
  /// starts) or when the commit fails. Must not block or call the database.
  package func onRollback(_ action: @escaping @Sendable () -> Void) { rollbackActions.append(action) }
}

// What the writer does with the transaction between jobs.
extension WriteTransaction {
  /// Where a job started: what failing it goes back to.
  struct Mark {
    let position: Int64
    let notes, rollbackActions: Int
  }

  var mark: Mark {
    Mark(position: position, notes: notes.count, rollbackActions: rollbackActions.count)
  }

  /// The stream is elsewhere than this node left it. Nothing is staged.
  func move(to position: Int64) { self.position = position }

  /// Undoes in memory what was done since `mark`; the rows are the writer's affair.
  func undo(to mark: Mark) {
    position = mark.position
    notes.removeSubrange(mark.notes...)
    while rollbackActions.count > mark.rollbackActions { rollbackActions.removeLast()() }
  }

  /// The batch is durable: publishes it, lets `advance` show the new position, wakes who waits.
  ///
  /// - Parameter rereads: whether followers get the notes as other nodes would.
  func publish(to publisher: inout CommitPublisher, rereads: Bool, advance: (Int64) -> Void) {
    if rereads { notes = notes.map { $0.reread() } }
    publisher.apply(notes)
    advance(position)
    publisher.wake(notes)
    _ = takeNotes()
  }

  /// Of a batch that is durable.
  func takeNotes() -> [any CommitNote] {
    defer {
      notes.removeAll(keepingCapacity: true)
      rollbackActions.removeAll(keepingCapacity: true)
    }
    return notes
  }

  var hasNotes: Bool { !notes.isEmpty }

  func bytes(_ form: CommitNoteBytes) -> [UInt8] { form.encode(notes) }

}
