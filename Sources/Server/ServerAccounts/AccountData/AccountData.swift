import Database
import JSON
import MatrixModel
import ServerCore

/// Events that only their owner sees, for the whole account or for one room.
///
/// Spec: Client-Server API, "Client Config".
package final class AccountData: Sendable {
  /// One entry as sync shows it.
  package struct Entry: Sendable {
    /// nil for data of no room.
    package let roomID: RoomID?
    package let type: EventType
    /// The `content` object's bytes.
    package let content: [UInt8]

    package init(roomID: RoomID?, type: EventType, content: [UInt8]) {
      self.roomID = roomID
      self.type = type
      self.content = content
    }

    /// As `{"type":…,"content":…}`.
    package func write(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("type", type)
        writer.member("content", raw: content)
      }
    }
  }

  /// Bytes of one content.
  package static let contentBytesLimit = 256 << 10
  /// Entries of one user, all rooms together.
  package static let countLimit = 20_000
  /// Entries and bytes of one user for one room.
  package static let roomCountLimit: Int64 = 1_000
  package static let roomBytesLimit: Int64 = 4 << 20
  /// Bytes of one user, all rooms together; entries of up to `smallBytes` bytes are bounded by their number alone.
  package static let bytesLimit: Int64 = 64 << 20
  static let smallBytes = 1_024
  /// What somebody writes and has not sent yet, as room account data `martlet.draft`, that of a thread as
  /// `martlet.draft.<event ID of its root>`: a client's affair but for its bytes. An empty object is no draft.
  package static let draftBytesLimit = 32 << 10
  /// Types that have endpoints of their own.
  package static let protectedTypes: Set<EventType> = [.pushRules, .fullyRead, .hidden]

  private let database: Database
  private let notifier: Notifier

  package init(database: Database, notifier: Notifier) {
    self.database = database
    self.notifier = notifier
  }

  /// Replaces what there is of a type.
  ///
  /// Throws `M_BAD_JSON` (405) for types the server controls, `M_TOO_LARGE` beyond a limit.
  package func set(_ type: EventType, _ content: JSON, of userID: UserID, in roomID: RoomID?) async throws {
    guard !Self.protectedTypes.contains(type) else {
      throw MatrixError(status: 405, .badJSON, "The server controls '\(type)'; it has endpoints of its own.")
    }
    let bytes = [UInt8](content.bytes)
    if type.text.hasPrefix("martlet.draft"), bytes.count > Self.draftBytesLimit {
      throw MatrixError.tooLarge("A draft has at most \(Self.draftBytesLimit) bytes.")
    }
    if type == .tag { try Tags.check(count: content["tags"]?.count ?? 0) }
    try await database.write { [self] tx in try store(tx, type, bytes, of: userID, in: roomID) }
  }

  /// The content of a type. Throws `M_NOT_FOUND`.
  package func content(of type: EventType, _ userID: UserID, in roomID: RoomID?) async throws -> [UInt8] {
    let content = try await database.read { tx in try Self.content(tx, of: type, userID, in: roomID) }
    guard let content else { throw MatrixError.notFound("There is no account data of this type.") }
    return content
  }

  package static func content(_ tx: ReadTransaction, of type: EventType, _ userID: UserID, in roomID: RoomID?) throws
    -> [UInt8]?
  {
    try tx.first(
      "SELECT content FROM account_data WHERE user_id = $1 AND room_id = $2 AND type = $3",
      userID, roomID?.text ?? "", type
    ) { $0.blob(0) }
  }

  /// Everything of a user, of the account or of one room, the oldest change first.
  package static func all(_ tx: ReadTransaction, of userID: UserID, in roomID: RoomID?) throws -> [Entry] {
    try tx.all(
      "SELECT type, content FROM account_data WHERE user_id = $1 AND room_id = $2 ORDER BY position", userID,
      roomID?.text ?? ""
    ) { Entry(roomID: roomID, type: $0.identifier(0), content: $0.blob(1)) }
  }

  /// Entries that changed after `start`, up to and with `end`, in that order. For sync: those of `m.push_rules` are brought
  /// up to date by `PushRules.content(_:)`.
  package static func changes(_ tx: ReadTransaction, of userID: UserID, after start: Int64, upTo end: Int64) throws
    -> [Entry]
  {
    try tx.all(
      """
      SELECT room_id, type, content FROM account_data
      WHERE user_id = $1 AND position > $2 AND position <= $3 ORDER BY position
      """, userID, start, end
    ) { row in
      let roomID = row.text(0)
      return Entry(
        roomID: roomID.isEmpty ? nil : RoomID(trusted: ByteString(roomID)), type: row.identifier(1),
        content: row.blob(2))
    }
  }

  /// Changes a content that depends on what was there: `change` gets it (nil for none) and answers the new one, or nil to
  /// leave everything as it is.
  package func update(
    _ type: EventType, of userID: UserID, in roomID: RoomID?,
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) async throws {
    try await database.write { [self] tx in
      guard let content = try change(Self.content(tx, of: type, userID, in: roomID)) else { return }
      try store(tx, type, content, of: userID, in: roomID)
    }
  }

  /// Stores inside a command, of any type, and wakes the user's devices.
  package func store(
    _ tx: WriteTransaction, _ type: EventType, _ content: [UInt8], of userID: UserID, in roomID: RoomID?
  ) throws {
    guard content.count <= Self.contentBytesLimit else {
      throw MatrixError.tooLarge("Account data has at most \(Self.contentBytesLimit) bytes.")
    }
    let position = tx.nextPosition()
    let replaced = try tx.changes(
      "UPDATE account_data SET content = $4, position = $5 WHERE user_id = $1 AND room_id = $2 AND type = $3",
      userID, roomID?.text ?? "", type, content, position)
    if replaced == 0 {
      let count = try tx.first("SELECT COUNT(*) FROM account_data WHERE user_id = $1", userID) { $0.integer(0) } ?? 0
      guard count < Int64(Self.countLimit) else {
        throw MatrixError.tooLarge("A user has at most \(Self.countLimit) entries of account data.")
      }
      try tx.execute(
        "INSERT INTO account_data(user_id, room_id, type, content, position) VALUES($1, $2, $3, $4, $5)",
        userID, roomID?.text ?? "", type, content, position)
    }
    try Self.checkQuota(tx, content.count, isNew: replaced == 0, of: userID, in: roomID)
    notifier.publish(position: position, users: [userID], in: tx)
  }

  /// Whether what is there now, the content just written included, is no more than a user may have. Throws `M_TOO_LARGE`.
  private static func checkQuota(
    _ tx: ReadTransaction, _ bytes: Int, isNew: Bool, of userID: UserID, in roomID: RoomID?
  ) throws {
    // A small entry in the place of another is the usual write, and needs no sums.
    guard isNew || bytes > smallBytes else { return }
    if let roomID {
      let room = try tx.first(
        "SELECT COUNT(*), CAST(SUM(LENGTH(content)) AS BIGINT) FROM account_data WHERE user_id = $1 AND room_id = $2", userID,
        roomID
      ) { row in (count: row.integer(0), bytes: row.integer(1)) }
      guard let room, room.count <= roomCountLimit, room.bytes <= roomBytesLimit else {
        throw MatrixError.tooLarge(
          "A user has at most \(roomCountLimit) entries and \(roomBytesLimit) bytes of account data for a room.")
      }
    }
    guard bytes > smallBytes else { return }
    let all = try tx.first("SELECT CAST(SUM(LENGTH(content)) AS BIGINT) FROM account_data WHERE user_id = $1", userID) {
      $0.integer(0)
    }
    guard (all ?? 0) <= bytesLimit else {
      throw MatrixError.tooLarge("A user has at most \(bytesLimit) bytes of account data.")
    }
  }
}
