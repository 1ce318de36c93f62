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

  init(_ event: JSON, version: RoomVersion) throws(EventFormatError) {
    guard let typeName = event["type"]?.text else { throw .field("type") }
    guard typeName.count <= EventLimits.typeBytes else { throw .fieldTooLarge("type") }
    type = EventType(trusted: typeName)
    guard let sender = UserID(event["sender"]) else { throw .field("sender") }
    self.sender = sender
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
  }

  private static func stateKey(_ event: JSON) throws(EventFormatError) -> ByteString? {
    guard let value = event["state_key"] else { return nil }
    guard let stateKey = value.text else { throw .field("state_key") }
    guard stateKey.count <= EventLimits.stateKeyBytes else { throw .fieldTooLarge("state_key") }
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
