import Database
import MatrixModel

/// How much content a user has on the server.
package struct MediaUsage: Sendable {
  package let items: Int64
  package let bytes: Int64

  static let none = MediaUsage(items: 0, bytes: 0)

  static func of(_ userID: UserID, _ transaction: ReadTransaction) throws -> MediaUsage {
    try transaction.first("SELECT items, bytes FROM media_usage WHERE user_id = $1", userID) { row in
      MediaUsage(items: row.integer(0), bytes: row.integer(1))
    } ?? .none
  }

  /// Counts content in, or with -1 out.
  static func add(_ transaction: WriteTransaction, items: Int64, bytes: Int64, of owner: String) throws {
    try transaction.execute(
      """
      INSERT INTO media_usage(user_id, items, bytes) VALUES($1, $2, $3)
      ON CONFLICT(user_id) DO UPDATE SET items = media_usage.items + excluded.items, bytes = media_usage.bytes + excluded.bytes
      """, owner, items, bytes)
  }
}

/// What one user's content may take up: the operator's bytes, and a count that nobody reaches by hand.
struct MediaQuota: Sendable {
  /// Uploads of one user.
  static let itemsLimit: Int64 = 1_000_000

  /// 0 for no limit.
  let bytes: Int64

  /// Bytes that may still come. Throws `M_FORBIDDEN` where nothing may.
  ///
  /// Spec: Client-Server API, "Content repository", "Security considerations".
  func left(after usage: MediaUsage) throws(MatrixError) -> Int64 {
    guard usage.items < Self.itemsLimit else { throw Self.reached }
    return bytes == 0 ? .max : max(0, bytes - usage.bytes)
  }

  static let reached = MatrixError.forbidden(
    "Your files take up all the room you have on this server; ask its administrators to delete some.")
}
