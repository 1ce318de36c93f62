import Database
import ObjectStore

// What no row names stays for a day, which a backup of the database relies on, and then goes from the bucket.
extension BucketStore {
  /// How long after its last name has gone an object is removed, in milliseconds.
  static let graceMilliseconds: Int64 = 24 * 60 * 60_000
  /// Objects of one transaction.
  private static let batchLimit = 100

  func unname(_ hash: String, _ tx: WriteTransaction) throws { try objects.unname(hash, tx) }

  func removeIfUnused(_ hash: String) async throws {
    guard try await !database.read({ tx in try Self.isUsed(hash, tx) }) else { return }
    try await files.run { [folder] in folder.remove(hash) }
  }

  func sweep() async throws {
    while true {
      let doomed = try await database.write { [objects] tx in
        try objects.doomed(for: Self.graceMilliseconds, limit: Self.batchLimit, tx)
      }
      for hash in doomed {
        try Task.checkCancellation()
        try await remove(hash)
      }
      guard doomed.count >= Self.batchLimit else { return }
    }
  }

  private func remove(_ hash: String) async throws {
    try await bucket.forEach(Self.thumbnailKeys(hash)) { try await bucket.delete($0.key) }
    try await bucket.delete(Self.key(hash))
    try await files.run { [folder] in folder.remove(hash) }
    try await database.write { [objects] tx in try objects.remove(hash, tx) }
  }
}
