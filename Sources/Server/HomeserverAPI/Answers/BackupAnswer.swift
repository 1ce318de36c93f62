import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Many keys of a backup as JSON. What fits into one page is answered whole; more is read and sent page by page, so that a
/// backup of any size takes little memory. Keys stored or deleted meanwhile may or may not be in it.
struct BackupAnswer: Sendable {
  private let backups: KeyBackups
  private let version: ByteString
  private let userID: UserID
  /// nil for all rooms.
  private let room: RoomID?

  init(_ backups: KeyBackups, _ version: ByteString, of userID: UserID, in room: RoomID?) {
    self.backups = backups
    self.version = version
    self.userID = userID
    self.room = room
  }

  /// Throws `M_NOT_FOUND` where there is no such backup.
  func response() async throws -> Response {
    let first = try await page(after: nil)
    guard first.count == KeyBackups.pageLimit else {
      var text = BackupText(hasRooms: room == nil)
      return .json(text.begin() + text.append(first) + text.end())
    }
    return Response(
      headers: ["Content-Type": "application/json"],
      body: .stream(length: nil) { body in
        var text = BackupText(hasRooms: room == nil)
        try await body.write(text.begin())
        var page = first
        while !page.isEmpty {
          try await body.write(text.append(page))
          page = try await self.page(after: page.last)
        }
        try await body.write(text.end())
      })
  }

  private func page(after last: KeyBackups.Entry?) async throws -> [KeyBackups.Entry] {
    try await backups.page(version, of: userID, in: room, after: last)
  }
}

/// The text of `{"rooms":{roomID:{"sessions":{sessionID:key}}}}`, or of one room's object alone, in pieces.
struct BackupText: Sendable {
  private let hasRooms: Bool
  private var room: RoomID?
  private var hasKeys = false

  init(hasRooms: Bool) {
    self.hasRooms = hasRooms
  }

  func begin() -> [UInt8] { Array((hasRooms ? #"{"rooms":{"# : #"{"sessions":{"#).utf8) }

  /// - Parameter keys: sorted by room.
  mutating func append(_ keys: [KeyBackups.Entry]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(keys.reduce(0) { $0 + $1.json.count + 64 })
    for key in keys {
      if hasRooms, room != key.roomID {
        if room != nil { bytes += Array("}},".utf8) }
        bytes += JSON.text(key.roomID.text) + Array(#":{"sessions":{"#.utf8)
        room = key.roomID
        hasKeys = false
      }
      if hasKeys { bytes.append(UInt8(ascii: ",")) }
      bytes += JSON.text(key.sessionID)
      bytes.append(UInt8(ascii: ":"))
      bytes += key.json
      hasKeys = true
    }
    return bytes
  }

  func end() -> [UInt8] { Array((hasRooms && room != nil ? "}}}}" : "}}").utf8) }
}
