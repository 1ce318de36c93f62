import Database
import JSON
import MatrixModel

// The keys in a version. Spec: Client-Server API, "Server-side key backups".
extension KeyBackups {
  /// Keys of one version.
  package static let keysLimit: Int64 = 500_000
  /// Keys written, read or deleted in one transaction: others work between them.
  static let batchLimit = 500

  /// Stores keys in the current version. A better stored key is kept.
  ///
  /// Throws `M_WRONG_ROOM_KEYS_VERSION` if `name` is not the current version, `M_NOT_FOUND` if there is no version,
  /// `M_TOO_LARGE`. Keys are stored in batches: those before the error stay.
  package func store(_ keys: [BackedUpKey], in name: ByteString, of userID: UserID) async throws -> State {
    var rest = keys[...]
    while true {
      let batch = Array(rest.prefix(Self.batchLimit))
      rest = rest.dropFirst(Self.batchLimit)
      let state = try await database.write { tx in try Self.store(tx, batch, in: name, userID) }
      if rest.isEmpty { return state }
    }
  }

  private static func store(_ tx: WriteTransaction, _ keys: [BackedUpKey], in name: ByteString, _ userID: UserID) throws
    -> State
  {
    guard let current = try currentNumber(tx, userID), let version = try version(tx, current, userID) else {
      throw unknown
    }
    guard number(name) == current else {
      var error = MatrixError(
        status: 403, .wrongRoomKeysVersion, "Keys are stored in the newest backup only, which is another one.")
      error.currentVersion = ByteString(String(current))
      throw error
    }
    var (added, changed) = (Int64(0), false)
    for key in keys {
      let known = try rank(tx, key, current, userID)
      if let known, !key.rank.replaces(known) { continue }
      changed = true
      if known == nil { added += 1 }
      try write(tx, key, current, userID)
    }
    let state = State(etag: version.state.etag + (changed ? 1 : 0), count: version.state.count + added)
    guard state.count <= keysLimit else { throw MatrixError.tooLarge("A backup has at most \(keysLimit) keys.") }
    if changed { try save(tx, state, current, userID) }
    return state
  }

  private static func rank(_ tx: ReadTransaction, _ key: BackedUpKey, _ version: Int64, _ userID: UserID) throws
    -> BackedUpKey.Rank?
  {
    try tx.first(
      """
      SELECT is_verified, first_message_index, forwarded_count FROM key_backup_key
      WHERE user_id = $1 AND version = $2 AND room_id = $3 AND session_id = $4
      """, userID, version, key.roomID, key.sessionID
    ) { row in
      BackedUpKey.Rank(isVerified: row.bool(0), firstMessageIndex: row.integer(1), forwardedCount: row.integer(2))
    }
  }

  private static func write(_ tx: WriteTransaction, _ key: BackedUpKey, _ version: Int64, _ userID: UserID) throws {
    try tx.execute(
      """
      INSERT INTO key_backup_key(
        user_id, version, room_id, session_id, is_verified, first_message_index, forwarded_count, json)
      VALUES($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT(user_id, version, room_id, session_id) DO UPDATE SET is_verified = excluded.is_verified,
        first_message_index = excluded.first_message_index, forwarded_count = excluded.forwarded_count, json = excluded.json
      """, userID, version, key.roomID, key.sessionID, key.rank.isVerified, key.rank.firstMessageIndex,
      key.rank.forwardedCount, key.json)
  }

  private static func save(_ tx: WriteTransaction, _ state: State, _ version: Int64, _ userID: UserID) throws {
    try tx.execute(
      "UPDATE key_backup SET etag = $3, keys = $4 WHERE user_id = $1 AND version = $2", userID, version, state.etag,
      state.count)
  }

  // MARK: Reading

  /// A key as it is read back.
  package struct Entry: Sendable {
    package let roomID: RoomID
    package let sessionID: ByteString
    package let json: [UInt8]
  }

  /// One key's `KeyBackupData`. Throws `M_NOT_FOUND` where there is no such key or backup.
  package func key(_ sessionID: ByteString, in roomID: RoomID, _ name: ByteString, of userID: UserID) async throws -> [UInt8] {
    try await database.read { tx in
      let number = try Self.existing(tx, name, userID)
      let json = try tx.first(
        """
        SELECT json FROM key_backup_key WHERE user_id = $1 AND version = $2 AND room_id = $3 AND session_id = $4
        """, userID, number, roomID, sessionID
      ) { $0.blob(0) }
      guard let json else { throw MatrixError.notFound("The backup has no key of this session.") }
      return json
    }
  }

  /// Keys after `last` by room and session, some at a time; fewer than `pageLimit` at the end. Throws `M_NOT_FOUND` where
  /// there is no such backup.
  ///
  /// - Parameter room: nil for those of all rooms.
  package func page(
    _ name: ByteString, of userID: UserID, in room: RoomID?, after last: Entry?, limit: Int = KeyBackups.pageLimit
  ) async throws -> [Entry] {
    try await database.read { tx in
      let number = try Self.existing(tx, name, userID)
      if let room {
        return try tx.all(
          """
          SELECT room_id, session_id, json FROM key_backup_key
          WHERE user_id = $1 AND version = $2 AND room_id = $3 AND session_id > $4 ORDER BY session_id LIMIT $5
          """, userID, number, room, last?.sessionID ?? "", limit, row: Self.entry)
      }
      return try tx.all(
        """
        SELECT room_id, session_id, json FROM key_backup_key
        WHERE user_id = $1 AND version = $2 AND (room_id, session_id) > ($3, $4) ORDER BY room_id, session_id LIMIT $5
        """, userID, number, last?.roomID.text ?? "", last?.sessionID ?? "", limit, row: Self.entry)
    }
  }

  /// Keys of one page of reading.
  package static let pageLimit = 1_000

  private static func entry(_ row: Row) -> Entry {
    Entry(roomID: row.identifier(0), sessionID: ByteString(row.text(1)), json: row.blob(2))
  }

  /// The number of a version that is there. Throws `M_NOT_FOUND`.
  private static func existing(_ tx: ReadTransaction, _ name: ByteString, _ userID: UserID) throws -> Int64 {
    guard let number = number(name), try version(tx, number, userID) != nil else { throw unknown }
    return number
  }

  // MARK: Deleting

  /// Deletes keys; those that are not there are no error. Throws `M_NOT_FOUND` where there is no such backup.
  package func delete(_ scope: BackupScope, in name: ByteString, of userID: UserID) async throws -> State {
    while true {
      let (state, isDone) = try await database.write { tx in
        guard let number = Self.number(name), let version = try Self.version(tx, number, userID) else { throw Self.unknown }
        let removed = try Self.removeBatch(tx, scope, number, userID)
        guard removed > 0 else { return (version.state, true) }
        let state = State(etag: version.state.etag + 1, count: version.state.count - Int64(removed))
        try Self.save(tx, state, number, userID)
        return (state, removed < Self.batchLimit)
      }
      if isDone { return state }
    }
  }

  /// Removes up to `batchLimit` keys; the answer is how many.
  static func removeBatch(_ tx: WriteTransaction, _ scope: BackupScope, _ version: Int64, _ userID: UserID) throws -> Int {
    switch scope {
    case .all:
      try tx.changes(
        """
        DELETE FROM key_backup_key WHERE user_id = $1 AND version = $2 AND (room_id, session_id) IN
          (SELECT room_id, session_id FROM key_backup_key WHERE user_id = $1 AND version = $2
           ORDER BY room_id, session_id LIMIT $3)
        """, userID, version, batchLimit)
    case .room(let roomID):
      try tx.changes(
        """
        DELETE FROM key_backup_key WHERE user_id = $1 AND version = $2 AND room_id = $3 AND session_id IN
          (SELECT session_id FROM key_backup_key WHERE user_id = $1 AND version = $2 AND room_id = $3
           ORDER BY session_id LIMIT $4)
        """, userID, version, roomID, batchLimit)
    case .session(let roomID, let sessionID):
      try tx.changes(
        "DELETE FROM key_backup_key WHERE user_id = $1 AND version = $2 AND room_id = $3 AND session_id = $4", userID,
        version, roomID, sessionID)
    }
  }
}
