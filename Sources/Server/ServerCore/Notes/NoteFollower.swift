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
    if let posted = note as? PostedNote { try apply(posted.note, rows) }
  }

  package func wake(_ note: any CommitNote) {
    if let posted = note as? PostedNote { wake(posted.note) }
  }
}

/// A note on its way through the database.
private final class PostedNote: CommitNote {
  let note: Note

  init(_ note: Note) { self.note = note }

  var kindNumber: UInt8 { note.kind.rawValue }

  func reread() -> any CommitNote {
    guard let note = Note.decode(Note.encode([note]))?.first else { preconditionFailure("\(note) does not survive its bytes") }
    return PostedNote(note)
  }
}

extension CommitNoteBytes {
  /// `Note.encode` and `Note.decode`.
  package static let notes = CommitNoteBytes(
    encode: { Note.encode($0.compactMap { ($0 as? PostedNote)?.note }) },
    decode: { Note.decode($0)?.map(PostedNote.init) })
}

extension WriteTransaction {
  /// Has everyone who follows its kind apply the note once this job is durable; none of it if the job is undone.
  package func note(_ note: Note) { post(PostedNote(note)) }
}

extension Database {
  /// Calls `follower`, which the database does not keep alive, for the notes of some kinds in all commits from now on.
  package func follow(_ kinds: Note.Kind..., by follower: some NoteFollower) {
    follow(kinds.map(\.rawValue), by: follower)
  }
}
