import JSON
import MatrixModel

/// Who reads an event and how it is to be written for them.
package struct EventReader: Sendable {
  package let userID: UserID
  /// The device that asks: it alone sees its transaction IDs.
  package let deviceID: DeviceID?
  /// Milliseconds since 1970, for `unsigned.age`.
  package let now: Int64

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
    writer.rawMembers(shared)
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
    writer.endObject()
    writer.endObject()
  }

  /// The event without anything that depends on who reads it.
  package var clientForm: [UInt8] {
    var writer = JSONWriter(capacity: shared.count + 128)
    writer.beginObject()
    writer.rawMembers(shared)
    writer.member("event_id", eventID)
    writer.endObject()
    return writer.bytes
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
