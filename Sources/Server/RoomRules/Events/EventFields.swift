import JSON
import MatrixModel

/// The fields of a full event, each checked for kind and limit. Spec: "Event format" of the room versions.
struct EventFields {
  let type: EventType
  let sender: UserID
  let stateKey: ByteString?
  let content: JSON
  let roomID: RoomID?
  let depth: Int64
  let originServerTimestamp: Int64
  let prevEvents: [EventID]
  let authEvents: [EventID]
  /// Whether `type`, `state_key` or `sender` has more bytes than allowed, in a room version where that only rejects the event.
  private(set) var isOversized = false

  init(_ event: JSON, version: RoomVersion) throws(EventFormatError) {
    guard let typeName = event["type"]?.text else { throw .field("type") }
    type = EventType(trusted: typeName)
    sender = try Self.sender(event, version: version)
    stateKey = try Self.stateKey(event)
    guard let content = event["content"], content.isObject else { throw .field("content") }
    self.content = content
    guard let depth = event["depth"]?.integer, (0...EventLimits.depth).contains(depth) else { throw .field("depth") }
    self.depth = depth
    guard let timestamp = event["origin_server_ts"]?.integer else { throw .field("origin_server_ts") }
    originServerTimestamp = timestamp
    prevEvents = try Self.eventIDs(event, "prev_events", limit: EventLimits.prevEvents)
    authEvents = try Self.eventIDs(event, "auth_events", limit: EventLimits.authEvents)
    guard event["hashes"]?["sha256"]?.isString ?? false else { throw .field("hashes") }
    guard event["signatures"]?.isObject ?? false else { throw .field("signatures") }
    roomID = try Self.roomID(event, isCreate: type == .create, version: version)
    if version.roomIDIsCreateHash, let roomID, authEvents.contains(EventID(createEventOf: roomID)) {
      throw .authEventsNameCreate
    }
    try checkLength(of: typeName, "type", bytes: EventLimits.typeBytes, version)
    if let stateKey { try checkLength(of: stateKey, "state_key", bytes: EventLimits.stateKeyBytes, version) }
    try checkLength(of: sender.text, "sender", bytes: EventLimits.senderBytes, version)
  }

  private mutating func checkLength(
    of text: ByteString, _ name: StaticString, bytes: Int, _ version: RoomVersion
  ) throws(EventFormatError) {
    guard text.count > bytes else { return }
    guard !version.hasStrictByteLimits, text.string.unicodeScalars.count <= EventLimits.fieldCharacters else {
      throw .fieldTooLarge(name)
    }
    isOversized = true
  }

  private static func sender(_ event: JSON, version: RoomVersion) throws(EventFormatError) -> UserID {
    let bytesLimit = version.hasStrictByteLimits ? EventLimits.senderBytes : EventLimits.fieldCharacters * 4
    guard let text = event["sender"]?.text, UserID.accepts(text, bytesLimit: bytesLimit) else { throw .field("sender") }
    return UserID(trusted: text)
  }

  private static func stateKey(_ event: JSON) throws(EventFormatError) -> ByteString? {
    guard let value = event["state_key"] else { return nil }
    guard let stateKey = value.text else { throw .field("state_key") }
    return stateKey
  }

  private static func roomID(
    _ event: JSON, isCreate: Bool, version: RoomVersion
  ) throws(EventFormatError) -> RoomID? {
    if version.roomIDIsCreateHash, isCreate {
      guard event["room_id"] == nil else { throw .createNamesRoom }
      return nil
    }
    guard let roomID = RoomID(event["room_id"]),
      version.roomIDIsCreateHash || roomID.text.utf8.contains(UInt8(ascii: ":"))
    else {
      throw .field("room_id")
    }
    return roomID
  }

  private static func eventIDs(
    _ event: JSON, _ name: StaticString, limit: Int
  ) throws(EventFormatError) -> [EventID] {
    guard let list = event[name], list.isArray else { throw .field(name) }
    var ids: [EventID] = []
    for element in list.elements {
      guard let id = EventID(element) else { throw .field(name) }
      guard ids.count < limit else { throw .fieldTooLarge(name) }
      ids.append(id)
    }
    return ids
  }
}
