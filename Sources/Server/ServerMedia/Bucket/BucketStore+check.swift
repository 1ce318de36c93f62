import Database
import ObjectStore

/// What a comparison of the bucket with the rows has found.
package struct BucketCheck: Sendable {
  /// Names that are listed of each kind.
  package static let namesLimit = 1_000

  /// Content in the bucket.
  package var objects = 0
  package var bytes: Int64 = 0
  /// Content that rows name and that is not there, or not with its bytes: hashes, the first of them.
  package var missing: [String] = []
  package var missingCount = 0
  /// Content that nothing names, and that no sweep is going to remove.
  package var unnamed: [String] = []
  package var unnamedCount = 0
}

// The only look at all of the bucket: nothing else needs one.
extension BucketStore {
  /// - Parameter dooms: whether content that nothing names is left to the sweep, which removes it a day later.
  /// Throws `BucketError`, `CancellationError`.
  func check(dooms: Bool) async throws -> BucketCheck {
    var check = BucketCheck()
    for digit in Self.digits {
      let objects = try await bucket.content(ofHashesBeginningWith: digit)
      let (named, known) = try await database.read { tx in try Self.rows(digit, tx) }
      check.objects += objects.count
      check.bytes += objects.values.reduce(0, +)
      for (hash, bytes) in named.sorted(by: { $0.key < $1.key }) where objects[hash] != bytes {
        guard try await isMissing(hash, bytes) else { continue }
        check.missingCount += 1
        if check.missing.count < BucketCheck.namesLimit { check.missing.append(hash) }
      }
      let unnamed = objects.keys.filter { named[$0] == nil && !known.contains($0) }.sorted()
      check.unnamedCount += unnamed.count
      check.unnamed += unnamed.prefix(BucketCheck.namesLimit - check.unnamed.count)
      if dooms, !unnamed.isEmpty {
        try await database.write { [self] tx in for hash in unnamed { try unname(hash, tx) } }
      }
    }
    return check
  }

  /// It may have come, or its last name may have gone, since both were listed.
  private func isMissing(_ hash: String, _ bytes: Int64) async throws -> Bool {
    guard try await bucket.size(of: Self.key(hash)) != bytes else { return false }
    return try await database.read { tx in try Self.isUsed(hash, tx) }
  }

  /// Of hashes that begin with a digit: those that rows name, with their bytes, and those whose objects have a row.
  private static func rows(_ digit: String, _ tx: ReadTransaction) throws -> (named: [String: Int64], known: Set<String>) {
    // Behind all digits.
    let end = digit + "g"
    let named = try tx.all(
      "SELECT hash, MAX(bytes) FROM media WHERE hash >= $1 AND hash < $2 GROUP BY hash", digit, end
    ) { ($0.text(0), $0.integer(1)) }
    let known = try tx.all("SELECT hash FROM media_object WHERE hash >= $1 AND hash < $2", digit, end) { $0.text(0) }
    return (Dictionary(uniqueKeysWithValues: named), Set(known))
  }
}

extension MediaRepository {
  /// Compares the bucket with the rows; nil if there is none. See `BucketStore.check`.
  package func checkBucket(dooms: Bool) async throws -> BucketCheck? { try await (store as? BucketStore)?.check(dooms: dooms) }
}
