import JSON
import MatrixModel

/// One room key in a backup: opaque but for what decides which of two is kept.
///
/// Spec: Client-Server API, "Server-side key backups".
package struct BackedUpKey: Sendable {
  /// Bytes of one key; those of the algorithm in use have some 1,000.
  package static let bytesLimit = 16 << 10
  /// Bytes of a session's ID.
  package static let sessionIDBytesLimit = 255

  let roomID: RoomID
  let sessionID: ByteString
  let rank: Rank
  /// The `KeyBackupData` object as it came.
  let json: [UInt8]

  /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`, `M_TOO_LARGE`.
  package init(_ json: JSON, _ sessionID: ByteString, in roomID: RoomID) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("The key of a session is not an object.") }
    guard !sessionID.isEmpty, sessionID.count <= Self.sessionIDBytesLimit else {
      throw .invalidParameter("The ID of a session has 1 to \(Self.sessionIDBytesLimit) bytes.")
    }
    guard json.bytes.count <= Self.bytesLimit else {
      throw .tooLarge("The key of a session has at most \(Self.bytesLimit) bytes.")
    }
    _ = try json.requiredObject("session_data")
    rank = Rank(
      isVerified: try json.requiredBool("is_verified"),
      firstMessageIndex: try Self.count(json, "first_message_index"),
      forwardedCount: try Self.count(json, "forwarded_count"))
    self.roomID = roomID
    self.sessionID = sessionID
    self.json = Array(json.bytes)
  }

  private static func count(_ json: JSON, _ key: StaticString) throws(MatrixError) -> Int64 {
    guard let count = try json.optionalInteger(key) else { throw .missingParameter(key.description) }
    guard count >= 0 else { throw .badJSON("'\(key)' is below 0.") }
    return count
  }

  /// What makes one key of a session better than another.
  struct Rank: Sendable, Equatable {
    let isVerified: Bool
    let firstMessageIndex: Int64
    let forwardedCount: Int64

    /// Whether a key of this rank takes the place of one of the other. Equals stay.
    func replaces(_ other: Rank) -> Bool {
      if isVerified != other.isVerified { return isVerified }
      if firstMessageIndex != other.firstMessageIndex { return firstMessageIndex < other.firstMessageIndex }
      return forwardedCount < other.forwardedCount
    }
  }

  /// The keys in `{"rooms":{roomID:{"sessions":{sessionID:…}}}}`. Throws as `init` does.
  package static func all(inRooms body: JSON) throws(MatrixError) -> [BackedUpKey] {
    var keys: [BackedUpKey] = []
    for room in try body.requiredObject("rooms").members {
      guard let roomID = RoomID(room.key) else { throw .invalidParameter("'rooms' has a key that is no room ID.") }
      guard room.value.isObject else { throw .badJSON("'rooms' does not map a room ID to an object.") }
      keys += try all(room.value, in: roomID)
    }
    return keys
  }

  /// The keys in `{"sessions":{sessionID:…}}`. Throws as `init` does.
  package static func all(_ body: JSON, in roomID: RoomID) throws(MatrixError) -> [BackedUpKey] {
    var keys: [BackedUpKey] = []
    for session in try body.requiredObject("sessions").members {
      keys.append(try BackedUpKey(session.value, session.key, in: roomID))
    }
    return keys
  }
}

/// Which keys of a backup an operation is about.
package enum BackupScope: Sendable {
  case all
  case room(RoomID)
  case session(RoomID, ByteString)
}
