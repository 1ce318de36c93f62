import JSON
import MatrixModel
import Olm

/// A message of a verification that has come: an event for this device, or one of a room. Spec: Client-Server API, "Key verification framework".
package struct VerificationMessage: Sendable {
  enum Kind: Sendable {
    case request, ready, start, accept, key, mac, cancel, done
  }

  /// IDs of events and of transactions; the spec limits only those of events.
  static let transactionBytes = 255
  static let requestType: ByteString = "m.key.verification.request"

  let kind: Kind
  /// What the messages of a verification have in common: in a room the ID of the event that asked for it.
  let transaction: ByteString
  let sender: UserID
  /// nil for an event for this device.
  let room: RoomID?
  /// The device that says to have sent it: of a request, `ready` and `start`.
  let device: DeviceID?
  /// Of the event in a room.
  let event: EventID?
  /// Of a request, as its sender says; of all events of rooms, as the server says. Milliseconds since 1970.
  let timestamp: Int64?
  let content: JSON

  /// An event for this device; nil for other types, and for those that name no transaction.
  init?(_ type: ByteString?, _ content: JSON, from sender: UserID) {
    guard let kind = type.flatMap({ Kind($0) }), let transaction = content.text("transaction_id"),
      (1...Self.transactionBytes).contains(transaction.count)
    else { return nil }
    self.init(
      kind: kind, transaction: transaction, sender: sender, room: nil, device: DeviceID(content["from_device"]), event: nil,
      timestamp: content.integer("timestamp"), content: content)
  }

  /// An event of a room in clear text.
  init?(_ type: EventType, _ content: JSON, event: EventID, in room: RoomID, from sender: UserID, at timestamp: Int64) {
    let isRequest = type == .message && content.text("msgtype") == Self.requestType
    guard let kind = isRequest ? .request : Kind(type.text), isRequest || kind != .request else { return nil }
    let relation = content["m.relates_to"]
    let related = relation?.text("rel_type") == "m.reference" ? relation?.text("event_id") : nil
    guard let transaction = isRequest ? event.text : related, transaction.count <= Self.transactionBytes else { return nil }
    self.init(
      kind: kind, transaction: transaction, sender: sender, room: room, device: DeviceID(content["from_device"]), event: event,
      timestamp: timestamp, content: content)
  }

  private init(
    kind: Kind, transaction: ByteString, sender: UserID, room: RoomID?, device: DeviceID?, event: EventID?, timestamp: Int64?,
    content: JSON
  ) {
    self.kind = kind
    self.transaction = transaction
    self.sender = sender
    self.room = room
    self.device = device
    self.event = event
    self.timestamp = timestamp
    self.content = content
  }

  /// Whether an event of a room may be one, at a glance.
  static func mayBe(_ type: JSON, _ content: JSON?) -> Bool {
    if type.isString("m.room.message") { return content?["msgtype"]?.isString("m.key.verification.request") ?? false }
    return type.bytes.starts(with: "\"m.key.verification.".utf8)
  }
}

extension VerificationMessage.Kind {
  fileprivate static let types: [(kind: Self, type: ByteString)] = [
    (.request, "m.key.verification.request"), (.ready, "m.key.verification.ready"), (.start, "m.key.verification.start"),
    (.accept, "m.key.verification.accept"), (.key, "m.key.verification.key"), (.mac, "m.key.verification.mac"),
    (.cancel, "m.key.verification.cancel"), (.done, "m.key.verification.done")
  ]

  init?(_ type: ByteString) {
    guard let entry = Self.types.first(where: { $0.type == type }) else { return nil }
    self = entry.kind
  }

  /// Of the event.
  var type: ByteString { Self.types.first { $0.kind == self }?.type ?? "" }
}
