import JSON
import MatrixModel
import RoomRules

extension PowerLevels {
  /// Says what is wrong with the content of an `m.room.power_levels` that a user of this server wants to send; nil if nothing is.
  ///
  /// Before room version 10 the authorization rules let most of it pass, and each reader makes of it what it likes.
  /// Spec: Client-Server API, `m.room.power_levels`; room version 10, "Values in `m.room.power_levels` events must be integers".
  static func fault(in content: JSON, of version: RoomVersion) -> String? {
    for property in Property.allCases {
      if let value = content[property.name], !isLevel(value, in: version) { return fault(of: property.name) }
    }
    let maps: [StaticString] = ["events", "notifications", "users"]
    for name in maps {
      guard let map = content[name] else { continue }
      guard map.isObject else { return "'\(name)' of the power levels is not an object." }
      guard map.members.allSatisfy({ isLevel($0.value, in: version) }) else { return fault(of: name) }
    }
    for name in content["users"]?.members.map(\.key) ?? [] where UserID(name) == nil {
      return "'users' of the power levels names '\(name)', which is not a user ID."
    }
    return nil
  }

  private static func isLevel(_ value: JSON, in version: RoomVersion) -> Bool {
    level(value) != nil && (value.integer != nil || !version.needsIntegerPowerLevels)
  }

  private static func fault(of name: StaticString) -> String {
    "'\(name)' of the power levels has a value that is not an integer of at most 2^53 - 1."
  }
}
