import ServerCore

/// Notes of a batch: what can be read is the same when it is written and read again.
func fuzzNotes(_ bytes: UnsafeRawBufferPointer) {
  guard let notes = Note.decode(Array(bytes)) else { return }
  precondition(Note.decode(Note.encode(notes)) == notes)
}
