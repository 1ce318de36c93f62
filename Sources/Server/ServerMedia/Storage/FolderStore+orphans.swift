import Database

// A process that is killed after it has moved content to its place and before it has committed the row leaves a file that nobody
// would find again.
extension FolderStore {
  /// How long ago a file was written at least that is taken for one.
  static let orphanAgeMilliseconds: Int64 = 24 * 60 * 60_000
  /// The part of all files that one sweep looks through, of 256.
  static let sweptParts = 16
  /// Files looked up in one transaction.
  private static let sweptBatch = 500

  /// Removes files that no row names, of a part of all files; the next sweep goes on with the next part.
  func sweep() async throws {
    for _ in 0..<Self.sweptParts {
      try await sweepOrphans(ofHashesBeginningWith: nextSweptByte())
    }
  }

  private func sweepOrphans(ofHashesBeginningWith byte: UInt8) async throws {
    let found = try await files.run { [folder] in folder.files(ofHashesBeginningWith: byte) }
    let time = clock.now() - Self.orphanAgeMilliseconds
    var hashes = found.keys.sorted()[...]
    while !hashes.isEmpty {
      try Task.checkCancellation()
      let batch = Array(hashes.prefix(Self.sweptBatch))
      hashes = hashes.dropFirst(Self.sweptBatch)
      let orphans = try await database.read { tx in try batch.filter { try !Self.isUsed($0, tx) } }
      for hash in orphans { try await removeOrphan(hash, found[hash] ?? [], notWrittenAfter: time) }
    }
  }

  /// Who uploads the same content meanwhile has the lock or waits for it, and writes the file anew.
  private func removeOrphan(_ hash: String, _ names: [String], notWrittenAfter time: Int64) async throws {
    try await withLock(hash) {
      guard try await !database.read({ tx in try Self.isUsed(hash, tx) }) else { return }
      try await files.run { [folder] in folder.remove(names, of: hash, notWrittenAfter: time) }
    }
  }
}
