import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// The rows that lists of rooms are read from. They change in the commit of the event that changes them.
package enum PublicRoomRows {
  static let main = "main"
  static let all = "all"
  package static func network(_ id: ByteString) -> String { "network:" + id.string }

  /// Follows a state event that has just become current in `room`.
  static func follow(_ type: EventType, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    switch type {
    case .member:
      try transaction.execute(
        "UPDATE public_room_list SET joined = $1 WHERE room = $2 AND joined <> $1", room.joinedCount, room.number)
    case .name, .topic, .canonicalAlias, .avatar, .guestAccess:
      try describe(room, transaction)
    case .joinRules, .historyVisibility:
      try describe(room, transaction)
      try markOpen(room, transaction)
    default: break
    }
  }

  /// Puts a room into a list or takes it out.
  package static func set(_ isListed: Bool, _ room: RoomSnapshot, in list: String, _ transaction: WriteTransaction) throws {
    if isListed {
      let preview = RoomPreview(of: room)
      try transaction.execute(
        """
        INSERT INTO public_room(room, room_type, search_text, summary) VALUES ($1, $2, $3, $4)
        ON CONFLICT(room) DO NOTHING
        """, room.number, preview.type?.string, preview.searchText, fragment(of: preview))
      for list in [list, all] { try insert(room, in: list, transaction) }
      return
    }
    try transaction.execute("DELETE FROM public_room_list WHERE room = $1 AND list = $2", room.number, list)
    let isElsewhere = try transaction.first(
      "SELECT 1 FROM public_room_list WHERE room = $1 AND list <> $2 LIMIT 1", room.number, all
    ) { _ in true }
    if isElsewhere == nil { try remove(room.number, transaction) }
  }

  /// Lists the room that replaces another where that one was listed.
  static func move(from old: RoomSnapshot, to new: RoomSnapshot, _ transaction: WriteTransaction) throws {
    let lists = try transaction.all(
      "SELECT list FROM public_room_list WHERE room = $1 AND list <> $2", old.number, all
    ) { $0.text(0) }
    for list in lists { try set(true, new, in: list, transaction) }
    try remove(old.number, transaction)
  }

  /// Takes a room out of every list.
  static func remove(_ room: RoomNumber, _ transaction: WriteTransaction) throws {
    for statement in RoomRows.listing { try transaction.execute(statement, room) }
  }

  private static func insert(_ room: RoomSnapshot, in list: String, _ transaction: WriteTransaction) throws {
    try transaction.execute(
      "INSERT INTO public_room_list(room, list, joined) VALUES ($1, $2, $3) ON CONFLICT(room, list) DO NOTHING",
      room.number, list, room.joinedCount)
  }

  private static func describe(_ room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    let preview = RoomPreview(of: room)
    try transaction.execute(
      "UPDATE public_room SET search_text = $1, summary = $2 WHERE room = $3", preview.searchText, fragment(of: preview),
      room.number)
  }

  private static func markOpen(_ room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    if room.joinRule == .public || room.historyVisibility == .worldReadable {
      try transaction.execute("INSERT INTO open_room(room) VALUES ($1) ON CONFLICT(room) DO NOTHING", room.number)
    } else {
      try transaction.execute("DELETE FROM open_room WHERE room = $1", room.number)
    }
  }

  private static func fragment(of preview: RoomPreview) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { preview.writeListing(to: &$0) }
    return Array(writer.bytes.dropFirst().dropLast())
  }
}
