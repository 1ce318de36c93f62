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
  /// Writes the client event format; `roomID` where the answer does not say the room elsewhere, `membership` where it is known
  /// how the reader stood to the room when the event was sent.
  ///
  /// Spec: Client-Server API, "Room event format", `UnsignedData`.
  package func write(
    to writer: inout JSONWriter, for reader: EventReader, roomID: RoomID? = nil, membership: Membership? = nil
  ) {
    writer.beginObject()
    writeShared(to: &writer)
    writer.member("event_id", eventID)
    if let roomID { writer.member("room_id", roomID) }
    writeUnsigned(to: &writer, for: reader, roomID, membership)
    writer.endObject()
  }

  /// Writes the event as servers exchange it, with `event_id` and `unsigned` as for clients.
  ///
  /// - Parameter federation: the fragment that only servers see. Spec: Client-Server API, `event_format` of a filter.
  package func writeFederationFormat(
    to writer: inout JSONWriter, _ federation: [UInt8], in room: RoomSnapshot, for reader: EventReader,
    membership: Membership?
  ) {
    writer.beginObject()
    writer.rawMembers(shared)
    writer.rawMembers(federation)
    if type != .create || !room.version.roomIDIsCreateHash { writer.member("room_id", room.roomID) }
    writer.member("event_id", eventID)
    writeUnsigned(to: &writer, for: reader, room.roomID, membership)
    writer.endObject()
  }

  private func writeUnsigned(
    to writer: inout JSONWriter, for reader: EventReader, _ roomID: RoomID?, _ membership: Membership?
  ) {
    writer.key("unsigned")
    writer.beginObject()
    writer.member("age", max(0, reader.now - timestamp))
    if let replaced {
      writer.member("prev_content", raw: replaced.content)
      writer.member("replaces_state", replaced.eventID)
      writer.member("prev_sender", replaced.sender)
    }
    if let redactedBecause { writer.member("redacted_because", raw: redactedBecause) }
    if let delayID = origin?.delayID {
      if sender == reader.userID { writer.member("org.matrix.msc4140.delay_id", delayID) }
    } else if let origin, let device = reader.deviceID, device == origin.deviceID, sender == reader.userID {
      writer.member("transaction_id", origin.transactionID)
    }
    if let membership { writer.member("membership", raw: Self.membershipNames[Int(membership.rawValue)]) }
    reader.aggregations[self]?.write(to: &writer, for: reader, roomID: roomID)
    writer.endObject()
  }

  /// By raw value, as JSON.
  private static let membershipNames: [[UInt8]] = [Membership.leave, .invite, .join, .ban, .knock].map {
    Array("\"\($0.name)\"".utf8)
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
