import Database
import JSON
import MatrixModel

/// Filters that clients upload once and name in every sync. Spec: Client-Server API, "Filtering".
package final class StoredFilters: Sendable {
  /// Bytes of one filter.
  package static let bytesLimit = 64 << 10
  /// Filters of one user; the oldest goes when there are more.
  package static let countLimit: Int64 = 1_000

  private let database: Database

  package init(database: Database) {
    self.database = database
  }

  /// Stores a filter; the same one again gets the same ID. Throws `M_TOO_LARGE`, and `M_BAD_JSON` naming the property that
  /// is of another kind than the spec says, or an identifier that is not valid.
  package func store(_ filter: JSON, of userID: UserID) async throws -> ByteString {
    let bytes = [UInt8](filter.bytes)
    guard bytes.count <= Self.bytesLimit else {
      throw MatrixError.tooLarge("A filter has at most \(Self.bytesLimit) bytes.")
    }
    // Those that are stored since before this was checked are read all the same.
    try SyncFilter(filter).checkIdentifiers()
    let known = try await database.read { tx in try Self.id(tx, of: bytes, userID) }
    if let known { return Self.text(known) }
    return try await database.write { tx in
      if let known = try Self.id(tx, of: bytes, userID) { return Self.text(known) }
      let id =
        try tx.first("SELECT COALESCE(MAX(filter_id), 0) + 1 FROM filter WHERE user_id = $1", userID) { $0.integer(0) }
        ?? 1
      try tx.execute("INSERT INTO filter(user_id, filter_id, json) VALUES($1, $2, $3)", userID, id, bytes)
      try tx.execute("DELETE FROM filter WHERE user_id = $1 AND filter_id <= $2", userID, id - Self.countLimit)
      return Self.text(id)
    }
  }

  /// A stored filter's JSON. Throws `M_NOT_FOUND`.
  package func filter(_ filterID: ByteString, of userID: UserID) async throws -> [UInt8] {
    guard let id = Int64(filterID.string),
      let filter = try await database.read({ tx in try Self.filter(tx, id, userID) })
    else { throw MatrixError.notFound("There is no such filter.") }
    return filter
  }

  private static func filter(_ tx: ReadTransaction, _ id: Int64, _ userID: UserID) throws -> [UInt8]? {
    try tx.first("SELECT json FROM filter WHERE user_id = $1 AND filter_id = $2", userID, id) { $0.blob(0) }
  }

  private static func id(_ tx: ReadTransaction, of json: [UInt8], _ userID: UserID) throws -> Int64? {
    try tx.first("SELECT filter_id FROM filter WHERE user_id = $1 AND json = $2", userID, json) { $0.integer(0) }
  }

  private static func text(_ id: Int64) -> ByteString { ByteString(String(id)) }
}
