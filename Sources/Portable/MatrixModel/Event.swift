import JSON

/// An event as clients see it (the client event format), its content left as parsed.
///
/// Spec: Client-Server API, "Room event format". Fields that a stripped or ephemeral event lacks are nil.
public struct Event: Sendable {
  public let type: EventType
  public let content: JSON
  public let eventID: EventID?
  public let roomID: RoomID?
  public let sender: UserID?
  /// Present, also as an empty text, in state events only.
  public let stateKey: ByteString?
  /// Milliseconds since 1970 by the sending server's clock: a claim, not a fact.
  public let originServerTimestamp: Int64?
  public let unsigned: JSON?

  /// nil where `type` or `content` is missing or of another kind: such an event cannot be worked with.
  @inline(never)
  public init?(_ json: JSON) {
    guard let type = EventType(json["type"]), let content = json["content"], content.isObject else { return nil }
    self.type = type
    self.content = content
    eventID = EventID(json["event_id"])
    roomID = RoomID(json["room_id"])
    sender = UserID(json["sender"])
    stateKey = json.text("state_key")
    originServerTimestamp = json.integer("origin_server_ts")
    unsigned = json["unsigned"]
  }

  /// Set in the sync of the device that sent it. Spec: "Local echo".
  public var transactionID: TransactionID? { TransactionID(unsigned?["transaction_id"]) }

  /// Whether its content was redacted.
  public var isRedacted: Bool { unsigned?["redacted_because"].map { !$0.isNull } ?? false }
}
