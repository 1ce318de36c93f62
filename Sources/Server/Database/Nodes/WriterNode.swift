/// What a writer has where other nodes write to the database, too.
final class WriterNode {
  let applier: Applier
  let notes: CommitNoteBytes
  /// Tells other nodes of commits; nil where the database does.
  let bus: Bus?
  private var hasTurn = false

  init(_ applier: Applier, _ notes: CommitNoteBytes, _ bus: Bus?) {
    self.applier = applier
    self.bus = bus
    self.notes = notes
  }

  /// While jobs run nothing is applied: see `Applier.beginTurn`.
  func beginTurn() {
    applier.beginTurn()
    hasTurn = true
  }

  func endTurn() {
    if hasTurn { applier.endTurn() }
    hasTurn = false
  }

  /// Blocks until the commits of all nodes up to a number are applied. Nothing may be staged in memory any more.
  func catchUp(to number: Int64) throws(DatabaseError) {
    endTurn()
    try applier.wait(until: number)
  }
}
