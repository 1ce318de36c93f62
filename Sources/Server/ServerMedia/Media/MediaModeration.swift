import Database
import Glibc
import JSON
import MatrixModel

/// What administrators do with content: look at it, withdraw it, delete it.
///
/// What is withdrawn ("in quarantine") is kept and not served, under whatever ID it was uploaded or will be; it can be given
/// back. What is deleted is gone: its file goes with the last ID that names it.
package final class MediaModeration: Sendable {
  /// Records of one page at most.
  package static let pageLimit = 500
  /// Records deleted or changed in one transaction: others write between them.
  static let batchLimit = 200

  private let media: MediaRepository
  package var database: Database { media.database }

  package init(media: MediaRepository) {
    self.media = media
  }

  // MARK: Looking

  package struct Page: Sendable {
    package let records: [MediaRecord]
    /// Where the next page begins; nil at the end.
    package let next: MediaRecord.Position?
  }

  /// What was uploaded, oldest first: by one user, or by all.
  package func list(
    user: UserID? = nil, after position: MediaRecord.Position? = nil, limit: Int = MediaModeration.pageLimit
  ) async throws -> Page {
    let count = max(1, min(limit, Self.pageLimit))
    let found = try await database.read { tx in
      try Self.records(tx, of: user, after: position ?? .start, limit: count + 1)
    }
    let records = Array(found.prefix(count))
    return Page(records: records, next: found.count > count ? records.last?.position : nil)
  }

  /// Throws `M_NOT_FOUND`.
  package func record(_ mediaID: ByteString) async throws -> MediaRecord {
    try await database.read { tx in try Self.record(tx, mediaID) }
  }

  package func statistics() async throws -> MediaStatistics {
    try await database.read { tx in
      let sums = try tx.first("SELECT CAST(SUM(items) AS BIGINT), CAST(SUM(bytes) AS BIGINT) FROM media_usage") { row in
        (items: row.integer(0), bytes: row.integer(1))
      }
      let files = try tx.first(
        "SELECT COUNT(*), CAST(SUM(bytes) AS BIGINT) FROM (SELECT hash, MAX(bytes) AS bytes FROM media GROUP BY hash) AS file"
      ) { row in (count: row.integer(0), bytes: row.integer(1)) }
      let quarantined = try tx.first("SELECT COUNT(*) FROM media WHERE quarantined_by IS NOT NULL") { $0.integer(0) }
      let pending = try tx.first("SELECT COUNT(*) FROM media_pending") { $0.integer(0) }
      return MediaStatistics(
        items: sums?.items ?? 0, bytes: sums?.bytes ?? 0, files: files?.count ?? 0, fileBytes: files?.bytes ?? 0,
        quarantined: quarantined ?? 0, pending: pending ?? 0)
    }
  }

  /// How much a user has.
  package func usage(of user: UserID) async throws -> MediaUsage {
    try await database.read { tx in try MediaUsage.of(user, tx) }
  }

  // MARK: Withdrawing

  /// Withdraws content, under every ID that names the same; the answer is how many. Throws `M_NOT_FOUND`.
  @discardableResult
  package func quarantine(_ mediaID: ByteString, by administrator: UserID) async throws -> Int {
    try await database.write { tx in
      let record = try Self.record(tx, mediaID)
      return try Self.quarantine(tx, record.hash, administrator)
    }
  }

  /// Withdraws all content of a user but what is protected; the answer is under how many IDs.
  @discardableResult
  package func quarantine(allOf user: UserID, by administrator: UserID) async throws -> Int {
    try await inBatches(of: user) { tx, records in
      var count = 0
      for record in records where !record.isProtected && record.quarantinedBy == nil {
        count += try Self.quarantine(tx, record.hash, administrator)
      }
      return (count, [])
    }
  }

  /// Gives withdrawn content back; the answer is under how many IDs. Throws `M_NOT_FOUND`.
  @discardableResult
  package func unquarantine(_ mediaID: ByteString) async throws -> Int {
    try await database.write { tx in
      let record = try Self.record(tx, mediaID)
      return try tx.changes(
        "UPDATE media SET quarantined_by = NULL WHERE hash = $1 AND quarantined_by IS NOT NULL", record.hash)
    }
  }

  /// Keeps content from being withdrawn or deleted together with other content, or no longer. Throws `M_NOT_FOUND`.
  package func protect(_ mediaID: ByteString, _ isProtected: Bool = true) async throws {
    try await database.write { tx in
      let found = try tx.changes("UPDATE media SET protected = $2 WHERE media_id = $1", mediaID, isProtected)
      guard found == 1 else { throw Self.unknown }
    }
  }

  private static func quarantine(_ tx: WriteTransaction, _ hash: String, _ administrator: UserID) throws -> Int {
    try tx.changes("UPDATE media SET quarantined_by = $2 WHERE hash = $1 AND quarantined_by IS NULL", hash, administrator)
  }

  // MARK: Deleting

  /// Deletes one, protected or not. Throws `M_NOT_FOUND`.
  package func delete(_ mediaID: ByteString) async throws {
    let hash = try await database.write { [self] tx in
      let record = try Self.record(tx, mediaID)
      try delete(tx, record)
      return record.hash
    }
    try await media.store.removeIfUnused(hash)
  }

  /// Deletes all content of a user, protected or not; the answer is how many.
  @discardableResult
  package func delete(allOf user: UserID) async throws -> Int {
    try await inBatches(of: user) { [self] tx, records in
      for record in records { try delete(tx, record) }
      return (records.count, records.map(\.hash))
    }
  }

  /// Deletes what came before `time` (milliseconds since 1970) and has more than `bytes` bytes, protected content excepted.
  ///
  /// - Parameter keepsAvatars: whether the pictures that users and rooms show stay as well.
  @discardableResult
  package func delete(before time: Int64, largerThan bytes: Int64 = -1, keepsAvatars: Bool = true) async throws -> Int {
    let avatars = keepsAvatars ? try await database.read { tx in try self.avatars(tx) } : []
    return try await inBatches(of: nil) { [self] tx, records in
      let deleted = records.filter {
        $0.created < time && $0.bytes > bytes && !$0.isProtected && !avatars.contains($0.mediaID)
      }
      for record in deleted { try delete(tx, record) }
      return (deleted.count, deleted.map(\.hash))
    }
  }

  private func delete(_ tx: WriteTransaction, _ record: MediaRecord) throws {
    try tx.execute("DELETE FROM media WHERE media_id = $1", record.mediaID)
    try media.store.unname(record.hash, tx)
    try MediaUsage.add(tx, items: -1, bytes: -record.bytes, of: record.userID?.string ?? "")
  }

  /// Goes through the records of a user, or of all, a transaction for each batch. `body` answers what it did to how many, and
  /// which files may have become unused.
  private func inBatches(
    of user: UserID?, _ body: @escaping @Sendable (WriteTransaction, [MediaRecord]) throws -> (count: Int, hashes: [String])
  ) async throws -> Int {
    var position = MediaRecord.Position.start
    var total = 0
    while true {
      let after = position
      let batch = try await database.write { tx in
        let records = try Self.records(tx, of: user, after: after, limit: Self.batchLimit)
        let result = try body(tx, records)
        return (last: records.last?.position, count: result.count, hashes: result.hashes)
      }
      for hash in Set(batch.hashes) { try await media.store.removeIfUnused(hash) }
      total += batch.count
      guard let last = batch.last else { return total }
      position = last
    }
  }

  /// The media IDs of the pictures that profiles and rooms show now.
  private func avatars(_ tx: ReadTransaction) throws -> Set<ByteString> {
    var avatars: Set<ByteString> = []
    func insert(_ value: JSON?) {
      guard let value, let uri = MediaURI(value), uri.serverName == media.serverName else { return }
      avatars.insert(uri.mediaID)
    }
    try tx.query("SELECT value FROM profile_field WHERE name = 'avatar_url'") { row in
      insert(try? JSON.parse(row.blob(0)))
    }
    try tx.query(
      """
      SELECT e.shared FROM current_state s JOIN event e ON e.position = s.event
      WHERE s.type = 'm.room.avatar' AND s.state_key = ''
      """
    ) { row in
      let event = try? JSON.parse([UInt8(ascii: "{")] + row.blob(0) + [UInt8(ascii: "}")])
      insert(event?["content"]?["url"])
    }
    return avatars
  }

  // MARK: Rows

  private static func record(_ tx: ReadTransaction, _ mediaID: ByteString) throws -> MediaRecord {
    let record = try tx.first(
      """
      SELECT media_id, user_id, content_type, file_name, bytes, created, hash, quarantined_by, protected
      FROM media WHERE media_id = $1
      """, mediaID, row: MediaRecord.init)
    guard let record else { throw unknown }
    return record
  }

  private static func records(
    _ tx: ReadTransaction, of user: UserID?, after position: MediaRecord.Position, limit: Int
  ) throws -> [MediaRecord] {
    if let user {
      return try tx.all(
        """
        SELECT media_id, user_id, content_type, file_name, bytes, created, hash, quarantined_by, protected FROM media
        WHERE user_id = $1 AND (created, media_id) > ($2, $3) ORDER BY created, media_id LIMIT $4
        """, user, position.created, position.mediaID, limit, row: MediaRecord.init)
    }
    return try tx.all(
      """
      SELECT media_id, user_id, content_type, file_name, bytes, created, hash, quarantined_by, protected FROM media
      WHERE (created, media_id) > ($1, $2) ORDER BY created, media_id LIMIT $3
      """, position.created, position.mediaID, limit, row: MediaRecord.init)
  }

  private static let unknown = MatrixError.notFound("There is no such content.")
}
