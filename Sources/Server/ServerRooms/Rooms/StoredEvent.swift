import JSON
import MatrixModel
import ServerCore

/// An accepted event: immutable, shared by snapshots, timelines and answers in flight.
///
/// The bytes are kept in two fragments without braces (`RoomRules` splits and joins them): what clients see is spliced
/// into answers as it is, never parsed and written again.
package final class StoredEvent: Sendable {
  /// Which request of which device made it: only that device sees the transaction ID.
  package struct Origin: Sendable {
    package let deviceID: DeviceID
    package let transactionID: TransactionID
  }

  package let position: Int64
  package let eventID: EventID
  package let room: RoomNumber
  package let type: EventType
  package let stateKey: ByteString?
  package let sender: UserID
  /// Milliseconds since 1970.
  package let timestamp: Int64
  package let depth: Int64
  /// `"content":{…},"origin_server_ts":…,"sender":…[,"state_key":…],"type":…`
  package let shared: [UInt8]
  package let content: JSON
  package let origin: Origin?
  /// Of a state event: the event it replaced, for `unsigned.prev_content` and `replaces_state`.
  package let replaced: Replaced?
  /// The redaction's client form, for `unsigned.redacted_because`; the fragment is already reduced.
  package let redactedBecause: [UInt8]?
  /// The root of the thread it was sent to, also by a relation to an event of it; nil for the main timeline. It stays when
  /// the event is redacted.
  package let thread: EventID?

  package struct Replaced: Sendable {
    package let eventID: EventID
    package let sender: UserID
    /// The `content` object's bytes.
    package let content: [UInt8]
  }

  package init(
    position: Int64, eventID: EventID, room: RoomNumber, type: EventType, stateKey: ByteString?, sender: UserID,
    timestamp: Int64, depth: Int64, shared: [UInt8], content: JSON, origin: Origin? = nil, replaced: Replaced? = nil,
    redactedBecause: [UInt8]? = nil, thread: EventID? = nil
  ) {
    self.position = position
    self.eventID = eventID
    self.room = room
    self.type = type
    self.stateKey = stateKey
    self.sender = sender
    self.timestamp = timestamp
    self.depth = depth
    self.shared = shared
    self.content = content
    self.origin = origin
    self.replaced = replaced
    self.redactedBecause = redactedBecause
    self.thread = thread
  }
}

extension StoredEvent.Origin {
  /// Of an event that was sent later, in the place of the request that made it: no device has an empty ID.
  package init(delayID: TransactionID) { self.init(deviceID: DeviceID(trusted: ""), transactionID: delayID) }

  /// nil where a request made the event at once.
  package var delayID: TransactionID? { deviceID.text.isEmpty ? transactionID : nil }
}

extension StoredEvent.Replaced {
  /// Of a member event: where the user stood before.
  package var membership: Membership? {
    guard let content = try? JSON.parse(content) else { return nil }
    return Membership(content["membership"])
  }
}
