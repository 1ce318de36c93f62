import JSON
import MatrixModel

/// For how long messages are kept, in milliseconds. Spec: MSC1763, `m.room.retention`.
package struct RetentionPolicy: Sendable, Equatable {
  package var minLifetime: Int64?
  /// nil for ever.
  package var maxLifetime: Int64?

  package init(minLifetime: Int64? = nil, maxLifetime: Int64? = nil) {
    self.minLifetime = minLifetime
    self.maxLifetime = maxLifetime
  }

  /// What a room asks for; nil for content that says nothing or contradicts itself.
  init?(_ content: JSON?) {
    guard let content else { return nil }
    for key in ["min_lifetime", "max_lifetime"] as [StaticString] {
      if let value = content[key], !value.isNull, value.integer.map({ $0 < 0 }) ?? true { return nil }
    }
    self.init(minLifetime: content["min_lifetime"]?.integer, maxLifetime: content["max_lifetime"]?.integer)
    if minLifetime == nil, maxLifetime == nil { return nil }
    if let minLifetime, let maxLifetime, minLifetime > maxLifetime { return nil }
  }
}

/// What the operator says of it.
package struct RetentionRules: Sendable {
  /// Of rooms that ask for nothing; nil keeps messages for ever.
  package var defaultLifetime: Int64?
  /// A room's own lifetime is brought between these.
  package var shortestLifetime: Int64 = 24 * 60 * 60 * 1_000
  /// nil for no bound. With one, no room keeps messages longer, whether it asks for anything or not.
  package var longestLifetime: Int64?

  package init() {}

  /// How long messages of a room live, in milliseconds; nil for ever.
  func lifetime(in room: RoomSnapshot) -> Int64? {
    let policy = RetentionPolicy(room[.retention]?.content)
    var lifetime = policy?.maxLifetime.map { max($0, shortestLifetime) } ?? defaultLifetime
    if let least = policy?.minLifetime, let given = lifetime { lifetime = max(given, least) }
    guard let longestLifetime else { return lifetime }
    return min(lifetime ?? longestLifetime, longestLifetime)
  }
}
