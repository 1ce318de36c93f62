import Database
import JSON
import MatrixModel
import ServerCore

/// An event that waits for its time, or what became of it. Spec: MSC4140.
package struct DelayedEvent: Sendable {
  /// Names a delayed event; who knows it may send, cancel and restart it: 192 random bits.
  package typealias ID = TransactionID

  /// What a client asks to be sent later.
  package struct Draft: Sendable {
    package let roomID: RoomID
    package let type: EventType
    /// nil for an event that is no state.
    package let stateKey: ByteString?
    package let content: JSON
    package let delayMilliseconds: Int64
    /// nil where the request has none: each is then one of its own.
    package let transactionID: TransactionID?

    package init(
      roomID: RoomID, type: EventType, stateKey: ByteString?, content: JSON, delayMilliseconds: Int64,
      transactionID: TransactionID?
    ) {
      self.roomID = roomID
      self.type = type
      self.stateKey = stateKey
      self.content = content
      self.delayMilliseconds = delayMilliseconds
      self.transactionID = transactionID
    }
  }

  package enum Outcome: Sendable {
    case sent(EventID)
    case cancelled
    /// The standard error response, as JSON.
    case failed([UInt8])
  }

  package let id: ID
  package let user: UserID
  package let room: RoomNumber
  /// nil where the room is gone.
  package let roomID: RoomID?
  package let type: EventType
  package let stateKey: ByteString?
  /// The `content` object's bytes.
  package let content: [UInt8]
  /// What an application service wants as the event's time; nil for when it is sent.
  let timestamp: Int64?
  package let delayMilliseconds: Int64
  /// When it was scheduled or restarted, in milliseconds since 1970.
  package let since: Int64
  package let sendAt: Int64
  /// When it came to its end and how; nil as long as it waits.
  package let finalised: (at: Int64, outcome: Outcome)?

  /// From `delay_id, user_id, room, room_id, type, state_key, content, timestamp, delay, since, send_at, finalised, event_id,
  /// error`.
  init(_ row: Row) {
    id = row.identifier(0)
    user = row.identifier(1)
    room = RoomNumber(row.integer(2))
    roomID = row.optionalText(3).map { RoomID(trusted: ByteString($0)) }
    type = row.identifier(4)
    stateKey = row.optionalText(5).map { ByteString($0) }
    content = row.blob(6)
    timestamp = row.optionalInteger(7)
    delayMilliseconds = row.integer(8)
    since = row.integer(9)
    sendAt = row.integer(10)
    finalised = row.optionalInteger(11).map { at in
      if let eventID = row.optionalText(12) { return (at, .sent(EventID(trusted: ByteString(eventID)))) }
      return (at, row.optionalBlob(13).map { .failed($0) } ?? .cancelled)
    }
  }

  /// As MSC4140 has it now, with the names of its earlier revisions (`delay`, `running_since`) beside the new ones.
  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("delay_id", id)
      if let roomID { writer.member("room_id", roomID) }
      writer.member("type", type)
      if let stateKey { writer.member("state_key", stateKey) }
      writer.member("delay_ms", delayMilliseconds)
      writer.member("delayed_since_ts", since)
      writer.member("delay", delayMilliseconds)
      writer.member("running_since", since)
      writer.member("content", raw: content)
      guard let finalised else { return }
      writer.key("finalised")
      writer.object { writer in
        writer.member("finalised_ts", finalised.at)
        switch finalised.outcome {
        case .sent(let eventID): writer.member("event_id", eventID)
        case .failed(let error): writer.member("error", raw: error)
        case .cancelled: break
        }
      }
    }
  }
}
