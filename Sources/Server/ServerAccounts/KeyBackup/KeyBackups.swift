import Database
import JSON
import MatrixModel

/// The versions of users' key backups. Spec: Client-Server API, "Server-side key backups".
package final class KeyBackups: Sendable {
  /// One version as clients see it.
  package struct Version: Sendable {
    package let number: Int64
    package let algorithm: ByteString
    /// The object's bytes, as they came.
    package let authData: [UInt8]
    package let state: State
  }

  /// How much is in a version: `etag` is another one whenever its keys are.
  package struct State: Sendable, Equatable {
    package let etag: Int64
    package let count: Int64
  }

  /// What a client says of a version.
  package struct Description: Sendable {
    let algorithm: ByteString
    let authData: [UInt8]
    /// The version the client believes this is about; nil where it does not say.
    let version: ByteString?

    /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_TOO_LARGE`.
    package init(_ body: JSON) throws(MatrixError) {
      algorithm = try body.requiredText("algorithm")
      let authData = try body.requiredObject("auth_data")
      guard algorithm.count <= 255, authData.bytes.count <= authDataBytesLimit else {
        throw .tooLarge(
          "'algorithm' has at most 255 bytes and 'auth_data' at most \(authDataBytesLimit).")
      }
      self.authData = Array(authData.bytes)
      version = try body.optionalText("version")
    }
  }

  /// Bytes of `auth_data`: a public key with signatures.
  package static let authDataBytesLimit = 64 << 10
  /// Versions of one user that are kept at once.
  package static let versionsLimit: Int64 = 100

  let database: Database

  package init(database: Database) {
    self.database = database
  }

  /// Makes a new version, the current one from now on. Throws `M_TOO_LARGE` where the user has too many.
  package func create(_ description: Description, of userID: UserID) async throws -> Int64 {
    try await purge(userID)
    return try await database.write { tx in
      let kept = try tx.first(
        "SELECT COUNT(*) FROM key_backup WHERE user_id = $1 AND deleted = 0", userID
      ) { $0.integer(0) }
      guard (kept ?? 0) < Self.versionsLimit else {
        throw MatrixError.tooLarge("A user has at most \(Self.versionsLimit) backups; delete an older one.")
      }
      let last = try tx.first("SELECT last FROM key_backup_number WHERE user_id = $1", userID) { $0.integer(0) }
      let number = (last ?? 0) + 1
      try tx.execute(
        """
        INSERT INTO key_backup_number(user_id, last) VALUES($1, $2)
        ON CONFLICT(user_id) DO UPDATE SET last = excluded.last
        """, userID, number)
      try tx.execute(
        """
        INSERT INTO key_backup(user_id, version, algorithm, auth_data, etag, keys) VALUES($1, $2, $3, $4, 0, 0)
        """, userID, number, description.algorithm, description.authData)
      return number
    }
  }

  /// The newest version. Throws `M_NOT_FOUND`.
  package func current(of userID: UserID) async throws -> Version {
    let version = try await database.read { tx -> Version? in
      guard let number = try Self.currentNumber(tx, userID) else { return nil }
      return try Self.version(tx, number, userID)
    }
    guard let version else { throw Self.none }
    return version
  }

  /// Throws `M_NOT_FOUND`.
  package func version(_ name: ByteString, of userID: UserID) async throws -> Version {
    try await database.read { tx in
      guard let number = Self.number(name), let version = try Self.version(tx, number, userID) else { throw Self.unknown }
      return version
    }
  }

  /// Replaces a version's `auth_data`. Throws `M_NOT_FOUND`, `M_INVALID_PARAM` for another algorithm or version.
  package func update(_ name: ByteString, _ description: Description, of userID: UserID) async throws {
    try await database.write { tx in
      guard let number = Self.number(name), let version = try Self.version(tx, number, userID) else { throw Self.unknown }
      if let said = description.version, said != name {
        throw MatrixError.invalidParameter("'version' in the body is not the one in the path.")
      }
      guard description.algorithm == version.algorithm else {
        throw MatrixError.invalidParameter("The algorithm of a backup cannot be changed; create a new one.")
      }
      try tx.execute(
        "UPDATE key_backup SET auth_data = $3 WHERE user_id = $1 AND version = $2", userID, number, description.authData)
    }
  }

  /// Deletes a version with its keys; one that was deleted before is no error. Throws `M_NOT_FOUND` for one that never was.
  package func delete(_ name: ByteString, of userID: UserID) async throws {
    try await database.write { tx in
      let last = try tx.first("SELECT last FROM key_backup_number WHERE user_id = $1", userID) { $0.integer(0) }
      guard let number = Self.number(name), number <= last ?? 0 else { throw Self.unknown }
      try tx.execute(
        "UPDATE key_backup SET deleted = 1, auth_data = $3 WHERE user_id = $1 AND version = $2", userID, number,
        Array("{}".utf8))
    }
    try await purge(userID)
  }

  /// Takes out what deletions that were interrupted have left over, of all users.
  package func finishDeletions() async throws {
    let users = try await database.read { tx in
      try tx.all("SELECT DISTINCT user_id FROM key_backup WHERE deleted = 1") { $0.identifier(0, as: UserID.self) }
    }
    for userID in users { try await purge(userID) }
  }

  /// Takes out the keys of deleted versions, and then the versions, some keys in each transaction. What a crash leaves over
  /// goes with the next call.
  private func purge(_ userID: UserID) async throws {
    while true {
      let isDone = try await database.write { tx in
        let deleted = try tx.first(
          "SELECT version FROM key_backup WHERE user_id = $1 AND deleted = 1 ORDER BY version LIMIT 1", userID
        ) { $0.integer(0) }
        guard let deleted else { return true }
        if try Self.removeBatch(tx, .all, deleted, userID) == 0 {
          try tx.execute("DELETE FROM key_backup WHERE user_id = $1 AND version = $2", userID, deleted)
        }
        return false
      }
      if isDone { return }
    }
  }

  // MARK: Inside a transaction

  /// Returns the number of the newest version; nil if there is no version.
  static func currentNumber(_ tx: ReadTransaction, _ userID: UserID) throws -> Int64? {
    try tx.first(
      "SELECT version FROM key_backup WHERE user_id = $1 AND deleted = 0 ORDER BY version DESC LIMIT 1", userID
    ) { $0.integer(0) }
  }

  static func version(_ tx: ReadTransaction, _ number: Int64, _ userID: UserID) throws -> Version? {
    try tx.first(
      """
      SELECT algorithm, auth_data, etag, keys FROM key_backup WHERE user_id = $1 AND version = $2 AND deleted = 0
      """, userID, number
    ) { row in
      Version(
        number: number, algorithm: ByteString(row.text(0)), authData: row.blob(1),
        state: State(etag: row.integer(2), count: row.integer(3)))
    }
  }

  /// The number that a version's name stands for; nil for a name that none has.
  static func number(_ name: ByteString) -> Int64? {
    guard let number = Int64(name.string), number > 0, String(number).utf8.elementsEqual(name.utf8) else { return nil }
    return number
  }

  static let unknown = MatrixError.notFound("There is no such backup.")
  private static let none = MatrixError.notFound("There is no backup; create one.")
}
