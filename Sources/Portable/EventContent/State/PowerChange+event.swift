import JSON
import MatrixModel

extension PowerChange {
  /// What differs between two contents of `m.room.power_levels`: users first, then properties, events, notifications; as many
  /// as `ContentLimits.powerChanges`.
  static func between(_ before: JSON?, _ after: JSON) -> [PowerChange] {
    var changes: [PowerChange] = []
    compare(before?["users"], after["users"], &changes) { UserID($0).map { .user($0) } }
    compare(before, after, &changes) { .property($0) }
    compare(before?["events"], after["events"], &changes) { EventType($0).map { .event($0) } }
    compare(before?["notifications"], after["notifications"], &changes) { .notification($0) }
    return changes
  }

  private static func compare(
    _ before: JSON?, _ after: JSON?, _ changes: inout [PowerChange], _ subject: (ByteString) -> Subject?
  ) {
    let (old, new) = (levels(before), levels(after))
    for key in Set(old.keys).union(new.keys).ordered() where old[key] != new[key] {
      guard changes.count < ContentLimits.powerChanges else { return }
      guard let subject = subject(key) else { continue }
      changes.append(PowerChange(subject: subject, from: old[key], to: new[key]))
    }
  }

  /// Members that are levels; nested values are skipped.
  private static func levels(_ json: JSON?) -> [ByteString: Int64] {
    var levels: [ByteString: Int64] = [:]
    guard let json else { return levels }
    for member in json.members { levels[member.key] = PowerLevels.level(member.value) }
    return levels
  }
}
