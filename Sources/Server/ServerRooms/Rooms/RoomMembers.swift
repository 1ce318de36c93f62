import MatrixModel

/// The `m.room.member` events of one room by user: a value whose changed copy shares nearly all with the one before.
///
/// One dictionary would be copied whole with every join, as the snapshot before the join stays with its readers. The entries lie in many small dictionaries instead, of which a change
/// copies one.
package struct RoomMembers: Sequence, Sendable {
  package typealias Element = (key: UserID, value: RoomSnapshot.Member)

  /// A power of two of them, each found by its users' hashes.
  private var shards: [[UserID: RoomSnapshot.Member]] = [[:]]
  package private(set) var count = 0

  /// Entries of a shard, on the average, beyond which there are four times as many shards.
  private static let shardLimit = 64

  package subscript(user: UserID) -> RoomSnapshot.Member? { shards[shard(of: user)][user] }

  package var values: some Sequence<RoomSnapshot.Member> { lazy.map { $0.value } }

  package func makeIterator() -> FlattenSequence<[[UserID: RoomSnapshot.Member]]>.Iterator {
    shards.joined().makeIterator()
  }

  /// Puts `member` in the place of what the user was. Costs a copy of a shard, and of the list of shards, where they are shared.
  mutating func set(_ member: RoomSnapshot.Member, for user: UserID) {
    guard shards[shard(of: user)].updateValue(member, forKey: user) == nil else { return }
    count += 1
    if count > shards.count * Self.shardLimit { spread() }
  }

  private mutating func spread() {
    let all = shards
    shards = Array(repeating: [:], count: all.count * 4)
    for (user, member) in all.joined() { shards[shard(of: user)][user] = member }
  }

  private func shard(of user: UserID) -> Int {
    shards.count == 1 ? 0 : user.hashValue & (shards.count - 1)
  }
}
