import JSON

/// What each user of a room may do: `m.room.power_levels` with the spec's defaults, or the defaults alone.
///
/// Properties that the event does not have are nil and answered with their default by the questions below; values that are
/// not integers are ignored, but for decimal strings, which rooms before version 10 may hold.
/// Spec: Client-Server API, `m.room.power_levels`; room version 12, "Authorisation rules" (creators).
public struct PowerLevels: Sendable, Equatable {
  /// The event's single levels. The names on the wire are `ban`, `events_default`, and so on.
  public enum Property: UInt8, CaseIterable, Sendable {
    case ban, eventsDefault, invite, kick, redact, stateDefault, usersDefault

    public var name: StaticString {
      switch self {
      case .ban: "ban"
      case .eventsDefault: "events_default"
      case .invite: "invite"
      case .kick: "kick"
      case .redact: "redact"
      case .stateDefault: "state_default"
      case .usersDefault: "users_default"
      }
    }

    /// What holds where the event does not say.
    public var defaultLevel: PowerLevel {
      switch self {
      case .ban, .kick, .redact, .stateDefault: 50
      case .eventsDefault, .invite, .usersDefault: 0
      }
    }
  }

  /// A map of the event: levels by event type, notification kind or user ID.
  public typealias Levels = [ByteString: Int64]

  public private(set) var events: Levels = [:]
  public private(set) var notifications: Levels = [:]
  public private(set) var users: Levels = [:]
  /// Users whose level no event can change. Empty before room version 12.
  public let creators: [UserID]
  /// Whether the room has the event at all.
  public let isFromEvent: Bool

  private var ban: Int64?
  private var eventsDefault: Int64?
  private var invite: Int64?
  private var kick: Int64?
  private var redact: Int64?
  private var stateDefault: Int64?
  private var usersDefault: Int64?

  /// - Parameters:
  ///   - content: the content of `m.room.power_levels`.
  ///   - creators: from room version 12 on the sender of `m.room.create` and its `additional_creators`; before, nobody.
  public init(_ content: JSON, creators: [UserID] = []) {
    self.creators = creators
    isFromEvent = true
    for member in content.members {
      if member.isKey("events") {
        events = Self.levels(of: member.value)
      } else if member.isKey("notifications") {
        notifications = Self.levels(of: member.value)
      } else if member.isKey("users") {
        users = Self.levels(of: member.value)
      } else {
        set(member)
      }
    }
  }

  /// A room without the event: `creator` has 100 and everyone else 0, unless the room has `creators`.
  public init(creator: UserID?, creators: [UserID] = []) {
    self.creators = creators
    isFromEvent = false
    if let creator, creators.isEmpty { users[creator.text] = 100 }
  }

  // MARK: Levels

  /// The level of a user, a member of the room or not.
  public func level(of user: UserID) -> PowerLevel {
    if creators.contains(user) { return .creator }
    guard let level = users[user.text] else { return required(.usersDefault) }
    return PowerLevel(level)
  }

  /// What the event itself says, nil where it says nothing.
  public func explicit(_ property: Property) -> Int64? {
    switch property {
    case .ban: ban
    case .eventsDefault: eventsDefault
    case .invite: invite
    case .kick: kick
    case .redact: redact
    case .stateDefault: stateDefault
    case .usersDefault: usersDefault
    }
  }

  /// The level of a property, the default where the event does not say.
  public func required(_ property: Property) -> PowerLevel {
    explicit(property).map { PowerLevel($0) } ?? property.defaultLevel
  }

  /// The level needed to send an event of a type. Membership events have rules of their own.
  public func required(for type: EventType, isState: Bool) -> PowerLevel {
    if let level = events[type.text] { return PowerLevel(level) }
    return required(isState ? .stateDefault : .eventsDefault)
  }

  /// The level needed to notify the whole room (`@room`); 50 where the event does not say.
  public var requiredForRoomNotification: PowerLevel { notifications["room"].map { PowerLevel($0) } ?? 50 }

  // MARK: Questions

  public func canSend(_ type: EventType, isState: Bool = false, by user: UserID) -> Bool {
    level(of: user) >= required(for: type, isState: isState)
  }

  public func canInvite(by user: UserID) -> Bool { level(of: user) >= required(.invite) }

  /// Whether `user` may remove `target`: the kick level, and more power than the target.
  public func canKick(_ target: UserID, by user: UserID) -> Bool {
    let level = level(of: user)
    return level >= required(.kick) && self.level(of: target) < level
  }

  /// Whether `user` may ban `target`: the ban level, and more power than the target.
  public func canBan(_ target: UserID, by user: UserID) -> Bool {
    let level = level(of: user)
    return level >= required(.ban) && self.level(of: target) < level
  }

  /// Whether `user` may lift the ban of `target`: the ban level, the kick level, and more power than the target.
  public func canUnban(_ target: UserID, by user: UserID) -> Bool {
    level(of: user) >= required(.ban) && canKick(target, by: user)
  }

  /// Whether `user` may redact an event of `sender`. Their own need the level of `m.room.redaction`, those of others also `redact`.
  public func canRedact(eventOf sender: UserID, by user: UserID) -> Bool {
    canSend(.redaction, by: user) && (sender == user || level(of: user) >= required(.redact))
  }

  public func canNotifyRoom(by user: UserID) -> Bool { level(of: user) >= requiredForRoomNotification }

  /// Whether `user` may set the level of `target` to `new`. Spec: "Authorisation rules", `m.room.power_levels`.
  public func canSetLevel(of target: UserID, to new: Int64, by user: UserID) -> Bool {
    let level = level(of: user)
    guard canSend(.powerLevels, isState: true, by: user), !creators.contains(target) else { return false }
    return PowerLevel(new) <= level && (target == user || self.level(of: target) < level)
  }

  // MARK: Reading

  private mutating func set(_ member: JSON.Member) {
    if member.isKey("ban") {
      ban = Self.level(member.value)
    } else if member.isKey("events_default") {
      eventsDefault = Self.level(member.value)
    } else if member.isKey("invite") {
      invite = Self.level(member.value)
    } else if member.isKey("kick") {
      kick = Self.level(member.value)
    } else if member.isKey("redact") {
      redact = Self.level(member.value)
    } else if member.isKey("state_default") {
      stateDefault = Self.level(member.value)
    } else if member.isKey("users_default") {
      usersDefault = Self.level(member.value)
    }
  }

  private static func levels(of json: JSON) -> Levels {
    var levels: Levels = [:]
    for member in json.members {
      if let level = level(member.value) { levels[member.key] = level }
    }
    return levels
  }

  /// An integer or, as rooms before version 10 have it, a string that stands for one; nil for anything else.
  public static func level(_ json: JSON) -> Int64? {
    guard let level = json.integer ?? json.text.flatMap(decimal) else { return nil }
    return level.magnitude <= JSON.integerMagnitudeLimit ? level : nil
  }

  /// Spec: room version 1, "`m.room.power_levels` events accept values as strings": white space, a sign, leading zeroes.
  private static func decimal(_ text: ByteString) -> Int64? {
    var digits = Array(text.utf8)[...]
    while let first = digits.first, first <= 0x20 { digits.removeFirst() }
    while let last = digits.last, last <= 0x20 { digits.removeLast() }
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    while digits.count > 1, digits.first == UInt8(ascii: "0") { digits.removeFirst() }
    guard (1...16).contains(digits.count) else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard digit &- UInt8(ascii: "0") < 10 else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return isNegative ? -value : value
  }
}
