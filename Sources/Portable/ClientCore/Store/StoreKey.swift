import JSON
import MatrixModel

/// For hosts that read what the client has stored.
package enum TimelineRecord {
  /// The room whose timeline the record is a part of; nil for other records.
  package static func room(of key: ByteString) -> RoomID? {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 3, parts[0].elementsEqual("t".utf8), let id = PercentEncoding.decode(parts[1]) else { return nil }
    return RoomID(ByteString(decoding: id))
  }

  /// What the keys of all records of the room's timeline begin with.
  package static func prefix(of room: RoomID) -> ByteString { StoreKey.timeline(of: room) }

  package static func key(of position: SegmentPosition, in room: RoomID) -> ByteString { StoreKey.segment(position, of: room) }
}

/// The keys of the store's records. Identifiers stand percent-encoded between slashes, so that no ID can look like another key.
///
/// | key | value (JSON) |
/// |---|---|
/// | `a/schema` | the version of this table |
/// | `a/session` | the login |
/// | `a/profile` | the user's name and picture |
/// | `a/sync` | up to where the syncs have come |
/// | `a/filter` | the filter of the syncs, as the server names it |
/// | `a/data/TYPE` | account data this client reads |
/// | `a/room/ROOM` | a room with the members its line in the list names |
/// | `a/encrypted/ROOM` | the ID of a room that is encrypted: it stays so, whatever a later sync says |
/// | `a/outbox/NUMBER` | a message on its way, 16 hexadecimal digits |
/// | `a/inbox/NAME` | a message that another process wants to be sent |
/// | `a/draft/ROOM`, `a/draft/ROOM/EVENT` | what stands in the composer of a room, of a thread |
/// | `e/…` | of the encryption machine (module `Encryption`), which reads them by itself |
/// | `i/…` | the search index (module `SearchIndex`), which reads it by itself |
/// | `p/ROOM/m/USER` | a member |
/// | `p/ROOM/r/USER`, `p/ROOM/r/USER/KIND` | up to where a member says to have read, see `ReadReceipt.Kind` |
/// | `t/ROOM/POSITION` | a timeline segment, see `SegmentPosition` |
///
/// All of `a/` is read at the start; of a room, `p/` when its members are needed and `t/` from the end when it is opened.
enum StoreKey {
  static let schema: ByteString = "a/schema"
  static let session: ByteString = "a/session"
  static let profile: ByteString = "a/profile"
  static let sync: ByteString = "a/sync"
  static let filter: ByteString = "a/filter"
  static let account: ByteString = "a/"
  static let inbox: ByteString = "a/inbox/"
  static let encryptedRooms: ByteString = "a/encrypted/"
  static let encryption: ByteString = "e/"
  /// What a fresh sync brings again: everything but the login, the outbox and the drafts.
  static let synced: [ByteString] = ["a/sync", "a/data/", "a/room/", "i/", "p/", "t/"]

  static func data(_ type: EventType) -> ByteString { key("a/data/", type.text) }
  static func room(_ room: RoomID) -> ByteString { key("a/room/", room.text) }
  static func encrypted(_ room: RoomID) -> ByteString { key("a/encrypted/", room.text) }
  static func draft(_ room: RoomID) -> ByteString { key("a/draft/", room.text) }
  static func people(of room: RoomID) -> ByteString { key("p/", room.text, "/") }
  static func members(of room: RoomID) -> ByteString { key("p/", room.text, "/m/") }
  static func timeline(of room: RoomID) -> ByteString { key("t/", room.text, "/") }

  static func member(_ user: UserID, in room: RoomID) -> ByteString { key("p/", room.text, "/m/", user.text) }
  static func receipt(_ kind: ReadReceipt.Kind, of user: UserID, in room: RoomID) -> ByteString {
    let first = key("p/", room.text, "/r/", user.text)
    return kind == .room ? first : ByteString(first.string + "/\(kind.rawValue)")
  }

  static func outbox(_ number: UInt64) -> ByteString { ByteString("a/outbox/" + hexadecimal(number, digits: 16)) }

  static func segment(_ position: SegmentPosition, of room: RoomID) -> ByteString {
    ByteString(timeline(of: room).string + position.text)
  }

  @inline(never)
  private static func key(
    _ prefix: StaticString, _ id: ByteString, _ separator: StaticString = "", _ last: ByteString = ""
  ) -> ByteString {
    var bytes = Array(UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
    PercentEncoding.encode(id, to: &bytes)
    bytes += UnsafeBufferPointer(start: separator.utf8Start, count: separator.utf8CodeUnitCount)
    PercentEncoding.encode(last, to: &bytes)
    return ByteString(decoding: bytes)
  }

  static func hexadecimal(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
