import Database

/// Applies notes of some kinds to what it remembers. The functions have the rules of `CommitFollower`. Applying a note twice must do no harm.
package protocol NoteFollower: CommitFollower {
  func apply(_ note: Note, _ rows: CommittedRows) throws
  func wake(_ note: Note)
}

extension NoteFollower {
  package func apply(_ note: Note, _ rows: CommittedRows) throws {}
  package func wake(_ note: Note) {}
  package func reload(_ rows: CommittedRows) throws {}

  package func apply(_ note: any CommitNote, _ rows: CommittedRows) throws {
    if let note = note as? Note { try apply(note, rows) }
  }

  package func wake(_ note: any CommitNote) {
    if let note = note as? Note { wake(note) }
  }
}

extension Note: CommitNote {
  package var kindNumber: UInt8 { kind.rawValue }

  package var reread: Note {
    guard let note = Note.decode(Note.encode([self]))?.first else { preconditionFailure("\(self) does not survive its bytes") }
    return note
  }
}

extension WriteTransaction {
  /// Has everyone who follows its kind apply the note once this job is durable; none of it if the job is undone.
  package func note(_ note: Note) { post(note) }
}

extension Database {
  /// Calls `follower`, which the database does not keep alive, for the notes of some kinds in all commits from now on.
  package func follow(_ kinds: Note.Kind..., by follower: some NoteFollower) {
    follow(kinds.map(\.rawValue), by: follower)
  }
}
