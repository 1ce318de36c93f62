import JSON

/// An event and its room, as push rules look at them.
public struct PushEvent: Sendable {
  public let type: EventType
  public let stateKey: ByteString?
  public let sender: UserID
  public let roomID: RoomID
  public let eventID: EventID?
  public let content: JSON
  /// Joined members of the room.
  public let memberCount: Int
  /// The sender's power level.
  public let senderPowerLevel: Int64
  private let notificationLevels: NotificationLevels

  private enum NotificationLevels: Sendable {
    case json(JSON?)
    case levels(PowerLevels.Levels)
  }

  /// - Parameter notificationLevels: `notifications` of the room's `m.room.power_levels`; nil where it has none.
  public init(
    type: EventType, stateKey: ByteString?, sender: UserID, roomID: RoomID, eventID: EventID?, content: JSON,
    memberCount: Int, senderPowerLevel: Int64, notificationLevels: JSON?
  ) {
    self.type = type
    self.stateKey = stateKey
    self.sender = sender
    self.roomID = roomID
    self.eventID = eventID
    self.content = content
    self.memberCount = memberCount
    self.senderPowerLevel = senderPowerLevel
    self.notificationLevels = .json(notificationLevels)
  }

  /// An event by what its room's power levels say, read already.
  public init(
    _ event: Event, sender: UserID, in roomID: RoomID, memberCount: Int, powerLevels: PowerLevels
  ) {
    type = event.type
    stateKey = event.stateKey
    self.sender = sender
    self.roomID = roomID
    eventID = event.eventID
    content = event.content
    self.memberCount = memberCount
    senderPowerLevel = powerLevels.level(of: sender).value
    notificationLevels = .levels(powerLevels.notifications)
  }

  /// What a condition finds at a path.
  enum Property {
    case text(ByteString)
    case json(JSON)
  }

  func property(_ path: PropertyPath) -> Property? {
    guard let first = path.names.first else { return nil }
    if first == "content" { return path.value(in: content, from: 1).map { .json($0) } }
    guard path.names.count == 1 else { return nil }
    if first == "type" { return .text(type.text) }
    if first == "state_key" { return stateKey.map { .text($0) } }
    if first == "sender" { return .text(sender.text) }
    if first == "room_id" { return .text(roomID.text) }
    if first == "event_id" { return eventID.map { .text($0.text) } }
    return nil
  }

  /// Whether the sender may notify everyone under `key`. Spec: `m.room.power_levels`, `notifications`, 50 by default.
  func senderMayNotify(_ key: ByteString) -> Bool {
    let level =
      switch notificationLevels {
      case .json(let json): json?[key].flatMap { PowerLevels.level($0) }
      case .levels(let levels): levels[key]
      }
    return senderPowerLevel >= level ?? 50
  }
}
