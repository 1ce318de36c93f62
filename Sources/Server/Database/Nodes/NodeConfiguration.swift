/// One of several servers on one PostgreSQL database.
package struct NodeConfiguration: Sendable {
  /// By which operators know it. Each node has another.
  package var name: String
  /// Where other nodes reach it: a host and a port.
  package var address: String
  package var notes: CommitNoteBytes

  package init(name: String, address: String, notes: CommitNoteBytes) {
    self.name = name
    self.address = address
    self.notes = notes
  }
}

/// How notes travel from one node to another.
package struct CommitNoteBytes: Sendable {
  let encode: @Sendable ([any CommitNote]) -> [UInt8]
  /// nil for bytes of a newer program, or damaged ones.
  let decode: @Sendable ([UInt8]) -> [any CommitNote]?

  package init(
    encode: @escaping @Sendable ([any CommitNote]) -> [UInt8], decode: @escaping @Sendable ([UInt8]) -> [any CommitNote]?
  ) {
    self.encode = encode
    self.decode = decode
  }
}
