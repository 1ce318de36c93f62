import JSON
import MatrixModel

/// The rules of `m.room.power_levels`: rule 9 of room versions 6 to 11, rule 10 of version 12.
struct PowerLevelRules {
  let version: RoomVersion
  let old: PowerLevels
  let sender: UserID
  let senderLevel: PowerLevel

  /// - Parameter replacesOld: whether the event has the empty state key. With another it changes nobody's power, so only its
  ///   form is checked. (The rules compare with the event of the same state key, which no event has among its auth events.)
  func authorize(_ content: JSON, replacesOld: Bool) throws(AuthorizationError) {
    try checkForm(content)
    guard replacesOld, old.isFromEvent else { return }
    let new = PowerLevels(content)
    for property in PowerLevels.Property.allCases {
      try checkChange(from: old.explicit(property), to: new.explicit(property), of: property.name)
    }
    try checkChanges(from: old.events, to: new.events, of: "events")
    try checkChanges(from: old.notifications, to: new.notifications, of: "notifications")
    try checkUsers(from: old.users, to: new.users)
  }

  private func checkForm(_ content: JSON) throws(AuthorizationError) {
    if version.needsIntegerPowerLevels {
      for property in PowerLevels.Property.allCases {
        guard let value = content[property.name] else { continue }
        guard value.integer != nil else { throw .malformedPowerLevels(property.name) }
      }
      try checkMap("events", of: content)
      try checkMap("notifications", of: content)
    }
    try checkMap("users", of: content)
    for member in content["users"]?.members.map(\.key) ?? [] {
      guard let user = UserID(member) else { throw .malformedPowerLevels("users") }
      if old.creators.contains(user) { throw .creatorInPowerLevels }
    }
  }

  private func checkMap(_ name: StaticString, of content: JSON) throws(AuthorizationError) {
    guard let map = content[name] else { return }
    let isLevel = version.needsIntegerPowerLevels ? { (value: JSON) in value.integer != nil } : { PowerLevels.level($0) != nil }
    guard map.isObject, map.members.allSatisfy({ isLevel($0.value) }) else { throw .malformedPowerLevels(name) }
  }

  private func checkChanges(
    from old: PowerLevels.Levels, to new: PowerLevels.Levels, of name: StaticString
  ) throws(AuthorizationError) {
    for (key, level) in old { try checkChange(from: level, to: new[key], of: name) }
    for (key, level) in new where old[key] == nil { try checkChange(from: nil, to: level, of: name) }
  }

  /// Neither the level that holds nor the one that shall hold may be above the sender's.
  private func checkChange(from old: Int64?, to new: Int64?, of name: StaticString) throws(AuthorizationError) {
    guard old != new else { return }
    for level in [old, new] {
      guard let level, PowerLevel(level) > senderLevel else { continue }
      throw .power(.change(name), needed: PowerLevel(level), has: senderLevel)
    }
  }

  /// As for the others, but that nobody else's level may be taken from a user who has as much as the sender.
  private func checkUsers(from old: PowerLevels.Levels, to new: PowerLevels.Levels) throws(AuthorizationError) {
    for (user, level) in old where user != sender.text && new[user] != level {
      guard PowerLevel(level) < senderLevel else { throw .levelNotBelow }
    }
    try checkChanges(from: old, to: new, of: "users")
  }
}
