import JSON
import MatrixModel

/// One event as a line of JSON: the members of a client event, and `martlet.file`, the path of its file beside the export.
package struct ExportLine: Sendable {
  /// Without the line break.
  package let bytes: [UInt8]

  /// - Parameters:
  ///   - room: written into the line, as of exports of several rooms.
  ///   - file: the path of its file beside the export.
  package init(_ event: Event, room: RoomID? = nil, file: String? = nil) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", event.type)
      if let id = event.eventID { writer.member("event_id", id) }
      if let room { writer.member("room_id", room) }
      if let sender = event.sender { writer.member("sender", sender) }
      if let time = event.originServerTimestamp { writer.member("origin_server_ts", time) }
      if let key = event.stateKey { writer.member("state_key", key) }
      writer.member("content", event.content)
      if let unsigned = event.unsigned { writer.member("unsigned", unsigned) }
      if let file { writer.member("martlet.file", file) }
    }
    // A line break can only stand between the values of what the server sent.
    bytes = writer.bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
  }
}
