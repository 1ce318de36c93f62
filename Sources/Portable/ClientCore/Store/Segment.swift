import JSON
import MatrixModel

/// Events that follow one another without a gap, as they stand in the store: `{"limited":…,"token":…,"events":[…]}`.
struct Segment: Sendable {
  let position: SegmentPosition
  /// The oldest first.
  var events: [TimelineEvent]
  var edge: SegmentEdge

  init(position: SegmentPosition, events: [TimelineEvent], isLimited: Bool, token: ByteString?) {
    self.position = position
    self.events = events
    edge = SegmentEdge(token: token, position: position, isLimited: isLimited)
  }

  /// Returns nil if the record is not valid.
  init?(_ record: StoreRecord) {
    guard let position = SegmentPosition(key: record.key), let json = Answer.parse(record.value),
      let listed = json["events"], listed.isArray
    else { return nil }
    self.init(
      position: position, events: listed.elements.compactMap { TimelineEvent($0) },
      isLimited: json.bool("limited") ?? false, token: json.text("token"))
  }

  static func record(isLimited: Bool, token: ByteString?, _ writeEvents: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.object { writer in
      writer.member("limited", isLimited)
      if let token { writer.member("token", token) }
      writer.key("events")
      writer.array { writer in writeEvents(&writer) }
    }
    return writer.bytes
  }
}

/// What is in front of a segment.
struct SegmentEdge: Sendable {
  /// From where one pages back; nil at the start of the room.
  var token: ByteString?
  /// Of the segment behind it; nil where pages cannot be stored.
  var position: SegmentPosition?
  /// Whether events are missing between it and the segment stored before it.
  var isLimited = false

  /// Whether the segment is a page that was asked from there.
  func isJoined(to segment: Segment) -> Bool { position?.older == segment.position }
}

/// How much of a room's timeline the store holds.
struct StoredHistory: Sendable {
  /// Of the last sync that brought events; -1 before the first.
  var lastBlock: Int64 = -1
  var events = 0

  var record: [UInt8] { Array("[\(lastBlock),\(events)]".utf8) }

  init() {}

  init?(record: JSON) {
    let parts = Array(record.elements)
    guard parts.count == 2, let block = parts[0].integer, block >= -1, block < SegmentPosition.blockLimit,
      let events = parts[1].count32
    else { return nil }
    lastBlock = block
    self.events = events
  }
}
