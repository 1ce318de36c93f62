import JSON
import MatrixModel

extension EventFragments {
  private static let clientKeys: [StaticString] = [
    "content", "origin_server_ts", "redacts", "sender", "state_key", "type"
  ]

  /// Cuts an event in two.
  package init(_ event: PDU) {
    var client = JSONWriter(capacity: event.bytes.count)
    var federation = JSONWriter(capacity: event.bytes.count)
    for member in event.json.members where !member.isKey("room_id") {
      if Self.clientKeys.contains(where: member.isKey) {
        client.key(member.key)
        client.write(member.value)
      } else {
        federation.key(member.key)
        federation.write(member.value)
      }
    }
    self.init(client: client.bytes, federation: federation.bytes)
  }

  /// The event in canonical bytes, as it was before it was cut.
  ///
  /// - Throws: `EventFormatError` where the fragments are not those of an event.
  package func event(roomID: RoomID, version: RoomVersion) throws(EventFormatError) -> [UInt8] {
    let members: JSON
    do throws(JSONError) {
      members = try JSON.parse([UInt8(ascii: "{")] + client + [UInt8(ascii: ",")] + federation + [UInt8(ascii: "}")])
    } catch { throw .syntax(error) }
    let namesRoom = !(version.roomIDIsCreateHash && EventType(members["type"]) == .create)
    var whole = JSONWriter(capacity: members.bytes.count + roomID.text.count + 16)
    whole.object { writer in
      for member in members.members {
        writer.key(member.key)
        writer.write(member.value)
      }
      if namesRoom { writer.member("room_id", roomID) }
    }
    do throws(JSONError) { return try JSON.parse(whole.bytes).canonical() } catch { throw .notCanonical }
  }
}

extension PDU {
  /// Takes an event from storage. The parts are those of `EventFragments`.
  package init(
    _ fragments: EventFragments, roomID: RoomID, eventID: EventID, version: RoomVersion
  ) throws(EventFormatError) {
    try self.init(stored: fragments.event(roomID: roomID, version: version), eventID: eventID, version: version)
  }
}
