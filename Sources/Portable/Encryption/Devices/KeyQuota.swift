import MatrixModel

/// How many keys of rooms, and refusals to give one, each user has brought within the last hour. Each is a record for ever, so nobody may fill the store
/// with them.
struct KeyQuota: Sendable {
  static let hourMilliseconds: Int64 = 60 * 60 * 1_000
  /// Users who are counted at once. If there are more, the counting begins anew.
  static let users = 10_000

  private struct Count: Sendable {
    var keys = 0
    let since: Int64
  }

  private var counts: [UserID: Count] = [:]

  /// - Parameter now: milliseconds since 1970.
  /// - Returns: whether the user may bring another key.
  mutating func take(from user: UserID, limit: Int, at now: Int64) -> Bool {
    if counts.count >= Self.users, counts[user] == nil { counts = [:] }
    var count = counts[user] ?? Count(since: now)
    // A clock that was set back begins anew, too.
    if !(0..<Self.hourMilliseconds).contains(now - count.since) { count = Count(since: now) }
    guard count.keys < limit else { return false }
    count.keys += 1
    counts[user] = count
    return true
  }
}
