import Database
import MatrixModel
import ServerMedia

extension MediaModeration {
  /// What a list of one user's media is in the order of.
  package enum Order: String, Sendable {
    case created = "created_ts"
    case bytes = "media_length"
  }

  /// The page of a user's media that begins at an offset; the newest or largest first where it is `descending`.
  package func list(
    of user: UserID, orderedBy order: Order = .created, descending: Bool = true, offset: Int64 = 0, limit: Int
  ) async throws -> (records: [MediaRecord], total: Int64) {
    let limit = min(max(limit, 1), Self.pageLimit)
    let direction: Int64 = descending ? -1 : 1
    return try await database.read { tx in
      let records = try tx.all(
        """
        SELECT media_id, user_id, content_type, file_name, bytes, created, hash, quarantined_by, protected FROM media
        WHERE user_id = $1 ORDER BY CASE WHEN $2 = 1 THEN bytes ELSE created END * $3, media_id LIMIT $4 OFFSET $5
        """, user, order == .bytes, direction, limit, offset, row: MediaRecord.init)
      let total = try tx.first("SELECT COUNT(*) FROM media WHERE user_id = $1", user) { $0.integer(0) }
      return (records, total ?? 0)
    }
  }
}
