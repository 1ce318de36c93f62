import JSON
import MatrixModel

/// Who reads an event and how it is to be written for them.
package struct EventReader: Sendable {
  package let userID: UserID
  /// The device that asks: it alone sees its transaction IDs.
  package let deviceID: DeviceID?
  /// Milliseconds since 1970, for `unsigned.age`.
  package let now: Int64
  /// What the answer's events tell of the events that relate to them.
  package var aggregations = Aggregations.none

  package init(userID: UserID, deviceID: DeviceID?, now: Int64) {
    self.userID = userID
    self.deviceID = deviceID
    self.now = now
  }
}

extension StoredEvent {
  /// Writes the client event format; `roomID` where the answer does not say the room elsewhere.
  ///
  /// Spec: Client-Server API, "Room event format", `UnsignedData`.
  package func write(to writer: inout JSONWriter, for reader: EventReader, roomID: RoomID? = nil) {
    writer.beginObject()
    writeShared(to: &writer)
    writer.member("event_id", eventID)
    if let roomID { writer.member("room_id", roomID) }
    writer.key("unsigned")
    writer.beginObject()
    writer.member("age", max(0, reader.now - timestamp))
    if let replaced {
      writer.member("prev_content", raw: replaced.content)
      writer.member("replaces_state", replaced.eventID)
      writer.member("prev_sender", replaced.sender)
    }
    if let redactedBecause { writer.member("redacted_because", raw: redactedBecause) }
    if let origin, let device = reader.deviceID, device == origin.deviceID, sender == reader.userID {
      writer.member("transaction_id", origin.transactionID)
    }
    reader.aggregations[self]?.write(to: &writer, for: reader, roomID: roomID)
    writer.endObject()
    writer.endObject()
  }

  /// The event without anything that depends on who reads it.
  package var clientForm: [UInt8] {
    var writer = JSONWriter(capacity: shared.count + 128)
    writer.beginObject()
    writeShared(to: &writer)
    writer.member("event_id", eventID)
    writer.endObject()
    return writer.bytes
  }

  /// The stored members as they are; of a redaction, `redacts` on the top level and in `content`, as old and new clients look
  /// for it. Spec: `m.room.redaction`, "for backwards-compatibility".
  private func writeShared(to writer: inout JSONWriter) {
    guard type == .redaction, let whole = try? JSON.parse([UInt8(ascii: "{")] + shared + [UInt8(ascii: "}")]),
      let redacts = EventID(content["redacts"]) ?? EventID(whole["redacts"]),
      let completed = try? content.replacing(["redacts"], { $0.member("redacts", redacts) })
    else { return writer.rawMembers(shared) }
    writer.member("content", completed)
    for member in whole.members where !member.isKey("content") && !member.isKey("redacts") {
      writer.key(member.key)
      writer.write(member.value)
    }
    writer.member("redacts", redacts)
  }

  /// The stripped form that invited and knocking users see. Spec: "Stripped state".
  package func writeStripped(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("content", content)
      writer.member("sender", sender)
      writer.member("state_key", stateKey ?? "")
      writer.member("type", type)
    }
  }
}
