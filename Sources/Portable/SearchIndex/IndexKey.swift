import ClientCore
import JSON
import MatrixModel

/// The keys of the index's records. ROOM stands as in the keys of timelines, SPAN is eight hexadecimal digits, BUCKET one.
///
/// | key | value |
/// |---|---|
/// | `i/a/ROOM/r` | how far the room is indexed, see `IndexedRoom` |
/// | `i/a/ROOM/n/POSITION` | a segment that is in no span yet |
/// | `i/a/ROOM/u/POSITION` | places of its events that had no key when it was indexed |
/// | `i/s/ROOM/d/SPAN` | what a span is about, see `SpanDocuments` |
/// | `i/s/ROOM/t/BUCKET/SPAN` | words that begin with one of a sixteenth of all characters, and the messages that have them |
///
/// No word stands in a key: a key would say how often it is used. All of `i/a/` is read at the start.
enum IndexKey {
  static let bucketCount = 16
  static let states: ByteString = "i/a/"

  static func state(of room: RoomID) -> ByteString { key("i/a/", room, "r") }
  static func new(_ position: SegmentPosition, in room: RoomID) -> ByteString { key("i/a/", room, "n/" + position.text) }
  static func unread(_ position: SegmentPosition, in room: RoomID) -> ByteString { key("i/a/", room, "u/" + position.text) }
  static func documents(of room: RoomID) -> ByteString { key("i/s/", room, "d/") }
  static func terms(_ bucket: Int, of room: RoomID) -> ByteString { key("i/s/", room, "t/" + String(bucket, radix: 16) + "/") }

  static func of(_ span: Int, in prefix: ByteString) -> ByteString { ByteString(prefix.string + digits(span)) }

  /// The room's whole index.
  static func prefixes(of room: RoomID) -> [ByteString] { [key("i/a/", room, ""), key("i/s/", room, "")] }

  /// The number at the end of a span's key.
  static func span(of key: ByteString) -> Int? {
    var number = 0
    guard key.count > 8 else { return nil }
    for digit in key.utf8.suffix(8) {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | Int(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | Int(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// The parts of a key below `i/a/`.
  static func stateParts(_ key: ByteString) -> (room: RoomID, kind: UInt8)? {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count >= 4, let kind = parts[3].first, let id = PercentEncoding.decode(parts[2]),
      let room = RoomID(ByteString(decoding: id))
    else { return nil }
    return (room, kind)
  }

  private static func key(_ prefix: StaticString, _ room: RoomID, _ rest: String) -> ByteString {
    var bytes = Array(UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
    // `t/ROOM/`
    bytes += TimelineRecord.prefix(of: room).utf8.dropFirst(2)
    bytes += rest.utf8
    return ByteString(decoding: bytes)
  }

  private static func digits(_ span: Int) -> String {
    let text = String(span, radix: 16)
    return String(repeating: "0", count: max(0, 8 - text.utf8.count)) + text
  }
}
