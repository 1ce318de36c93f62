import JSON
import MatrixModel

/// How a room is set up, beyond what its line in a list shows.
struct RoomSettings: Sendable {
  var joinRule: JoinRule?
  /// Rooms whose members may join, where the rule is restricted.
  var allowedRooms: [RoomID] = []
  var historyVisibility: HistoryVisibility?
  var allowsGuests = false
  var alternativeAliases: [RoomAlias] = []
  var predecessor: RoomID?
  var version: ByteString?
  var madeAt: Int64?
  /// Milliseconds, 0 for none.
  var slowMode: Int64 = 0
  var groups: [RoomGroup] = []

  /// Whether the event was one of those read here.
  mutating func take(_ event: Event) -> Bool {
    let content = event.content
    switch event.type {
    case .joinRules:
      joinRule = JoinRule(content["join_rule"])
      allowedRooms = content["allow"]?.elements.compactMap { RoomID($0["room_id"]) } ?? []
    case .historyVisibility: historyVisibility = HistoryVisibility(content["history_visibility"])
    case .guestAccess: allowsGuests = content["guest_access"]?.isString("can_join") ?? false
    case .canonicalAlias:
      let listed = content["alt_aliases"]?.elements.prefix(ContentLimits.alternativeAddresses)
      alternativeAliases = listed?.compactMap { RoomAlias($0) } ?? []
    case .create:
      version = content.text("room_version") ?? "1"
      predecessor = RoomID(content["predecessor"]?["room_id"])
      madeAt = event.originServerTimestamp
    case Room.slowModeType: slowMode = min(max(content.integer("interval_ms") ?? 0, 0), Limits.slowModeMilliseconds)
    case Room.groupsType: groups = RoomGroup.read(content["groups"])
    default: return false
    }
    return true
  }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    if let joinRule { writer.member("join_rule", joinRule.name.description) }
    if !allowedRooms.isEmpty {
      writer.key("allowed_rooms")
      writer.array { writer in for room in allowedRooms { writer.write(room) } }
    }
    if let historyVisibility { writer.member("history_visibility", historyVisibility.name.description) }
    if allowsGuests { writer.member("guests", true) }
    if !alternativeAliases.isEmpty {
      writer.key("alt_aliases")
      writer.array { writer in for alias in alternativeAliases { writer.write(alias) } }
    }
    if let predecessor { writer.member("predecessor", predecessor) }
    if let version { writer.member("version", version) }
    if let madeAt { writer.member("made_at", madeAt) }
    if slowMode > 0 { writer.member("slow_mode", slowMode) }
    if !groups.isEmpty { RoomGroup.write(groups, to: &writer) }
  }

  init() {}

  init(record: JSON) {
    joinRule = JoinRule(record["join_rule"])
    allowedRooms = record["allowed_rooms"]?.elements.compactMap { RoomID($0) } ?? []
    historyVisibility = HistoryVisibility(record["history_visibility"])
    allowsGuests = record.bool("guests") ?? false
    alternativeAliases = record["alt_aliases"]?.elements.compactMap { RoomAlias($0) } ?? []
    predecessor = RoomID(record["predecessor"])
    version = record.text("version")
    madeAt = record.integer("made_at")
    slowMode = record.integer("slow_mode") ?? 0
    groups = RoomGroup.read(record["groups"])
  }
}

extension Room {
  /// nil where it is not known or outside the spec's set: then nobody may join.
  public var joinRule: JoinRule? { state.settings.joinRule }
  /// Rooms whose members may join, where the rule is restricted.
  public var allowedRooms: [RoomID] { state.settings.allowedRooms }
  /// `shared` where nothing is said. Spec: `m.room.history_visibility`.
  public var historyVisibility: HistoryVisibility { state.settings.historyVisibility ?? .shared }
  public var allowsGuests: Bool { state.settings.allowsGuests }
  public var alternativeAliases: [RoomAlias] { state.settings.alternativeAliases }
  /// The room that this one replaces.
  public var predecessor: RoomID? { state.settings.predecessor }
  /// nil where it is not known.
  public var version: ByteString? { state.settings.version }
  /// When it was made, in milliseconds since 1970; nil where it is not known.
  public var madeAtMilliseconds: Int64? { state.settings.madeAt }
  /// The time that a member lets pass between two messages (`martlet.slow_mode`); 0 for none. Members who may set `slowModeType` need not wait.
  public var slowModeMilliseconds: Int64 { state.settings.slowMode }
  /// The state that says so. Documentation/Extensions.md describes it.
  public static var slowModeType: EventType { .slowMode }
  /// Members that one word calls (`martlet.mention_groups`).
  public var groups: [RoomGroup] { state.settings.groups }
  /// The state that says so. Documentation/Extensions.md describes it.
  public static var groupsType: EventType { .mentionGroups }
}
