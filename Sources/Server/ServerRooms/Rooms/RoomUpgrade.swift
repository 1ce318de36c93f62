import JSON
import MatrixModel
import RoomRules

/// What `POST /rooms/{roomId}/upgrade` asks for, checked for kind and limits.
package struct RoomUpgrade: Sendable {
  package let version: RoomVersion
  /// Beside the one who upgrades; empty where the version has none.
  package let additionalCreators: [UserID]

  /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`, `M_UNSUPPORTED_ROOM_VERSION`.
  package init(_ json: JSON) throws(MatrixError) {
    let name = try json.requiredText("new_version")
    guard let version = RoomVersion(name) else {
      throw MatrixError(status: 400, .unsupportedRoomVersion, "Room version '\(name)' is not supported.")
    }
    self.version = version
    additionalCreators = version.hasPrivilegedCreators ? try RoomCreation.users(json, "additional_creators") : []
  }

  /// Bans that are carried over at most; the newest come first.
  static let bansLimit = 10_000

  // MARK: State of the new room

  /// State that is carried over as it is; join rules and power levels are by `joinRules` and `powerLevels`.
  /// Spec: Client-Server API, "Room Upgrades", "Server behaviour", step 3; the canonical alias goes with the aliases.
  static let copiedTypes: [EventType] = [
    .serverACL, .encryption, .name, .avatar, .topic, .guestAccess, .historyVisibility, .canonicalAlias, .retention
  ]

  /// - Parameter lastEvent: of the old room; nil where the new room's ID has to be known before it.
  func createContent(replacing old: RoomSnapshot, lastEvent: EventID?, by creator: UserID) throws -> JSON {
    let content = old[.create]?.content
    let additional = additionalCreators.filter { $0 != creator }
    return try JSON.object { writer in
      writer.member("room_version", version.name)
      if version.createNamesCreator { writer.member("creator", creator) }
      if let type = content?["type"] { writer.member("type", type) }
      if let federate = content?["m.federate"] { writer.member("m.federate", federate) }
      if !additional.isEmpty {
        writer.array("additional_creators", additional) { $1.write($0) }
      }
      writer.key("predecessor")
      writer.object { writer in
        writer.member("room_id", old.roomID)
        if let lastEvent { writer.member("event_id", lastEvent) }
      }
    }
  }

  /// The old room's rule, or `invite` where the new version does not know it.
  func joinRules(of old: RoomSnapshot) throws -> JSON {
    guard version.understood(old.joinRule) != nil, let content = old[.joinRules]?.content else {
      return try JSON.object { $0.member("join_rule", "invite") }
    }
    return content
  }

  /// The old room's power levels as the new version has them: integers, without those above every level where it has such
  /// users, with them where only the old one had, and with `m.room.tombstone` for those on top.
  func powerLevels(of old: RoomSnapshot, by creator: UserID) throws -> JSON {
    let levels = old.powerLevels
    var users = levels.users
    if version.hasPrivilegedCreators {
      for user in [creator] + additionalCreators { users[user.text] = nil }
    } else {
      for user in levels.creators { users[user.text] = 100 }
    }
    var events = levels.events
    if version.hasPrivilegedCreators {
      let above = max(150, min(levels.required(.stateDefault).value, Int64(JSON.integerMagnitudeLimit) - 1) + 1)
      events[EventType.tombstone.text] = max(events[EventType.tombstone.text] ?? 0, above)
    } else if let level = events[EventType.tombstone.text], old.version.hasPrivilegedCreators {
      events[EventType.tombstone.text] = min(level, 100)
    }
    return try JSON.object { writer in
      for property in PowerLevels.Property.allCases {
        if let level = levels.explicit(property) { writer.member(property.name, level) }
      }
      Self.write("users", users, to: &writer)
      Self.write("events", events, to: &writer)
      if !levels.notifications.isEmpty { Self.write("notifications", levels.notifications, to: &writer) }
    }
  }

  private static func write(_ key: StaticString, _ levels: PowerLevels.Levels, to writer: inout JSONWriter) {
    writer.key(key)
    writer.object { writer in
      for (name, level) in levels.sorted(by: { $0.key < $1.key }) {
        writer.key(name)
        writer.write(level)
      }
    }
  }

  // MARK: State of the old room

  /// Power levels under which only moderators go on in the old room; nil where they hold already.
  /// Spec: step 6.
  static func closedPowerLevels(of old: RoomSnapshot) throws -> JSON? {
    guard let content = old[.powerLevels]?.content else { return nil }
    let levels = old.powerLevels
    let above = max(50, min(levels.required(.usersDefault).value, Int64(JSON.integerMagnitudeLimit) - 1) + 1)
    let (events, invite) = (levels.required(.eventsDefault).value, levels.required(.invite).value)
    guard events < above || invite < above else { return nil }
    return try content.replacing(["events_default", "invite"]) { writer in
      writer.member("events_default", max(events, above))
      writer.member("invite", max(invite, above))
    }
  }
}
