import JSON
import MatrixModel
import ServerRooms

/// What names a room for who does not know all its members. Spec: `RoomSummary` of `GET /sync`.
package struct RoomSummary {
  package let heroes: [UserID]
  let joinedCount: Int
  let invitedCount: Int

  private static let heroesLimit = 5

  package init(of room: RoomSnapshot, for user: UserID) {
    joinedCount = room.joinedCount
    invitedCount = room.invitedCount
    let isNamed =
      !(room[.name]?.content["name"]?.text?.isEmpty ?? true)
      || !(room[.canonicalAlias]?.content["alias"]?.text?.isEmpty ?? true)
    if isNamed {
      heroes = []
      return
    }
    let present = Self.first(of: room, without: user) { $0 == .join || $0 == .invite }
    heroes = present.isEmpty ? Self.first(of: room, without: user) { $0 == .leave || $0 == .ban } : present
  }

  /// The users whose membership is oldest. O(members).
  private static func first(
    of room: RoomSnapshot, without user: UserID, where isWanted: (Membership) -> Bool
  ) -> [UserID] {
    var first: [(position: Int64, user: UserID)] = []
    for (candidate, member) in room.members where candidate != user && isWanted(member.membership) {
      let position = member.event.position
      if first.count == heroesLimit, position > first[heroesLimit - 1].position { continue }
      let place = first.firstIndex { $0.position > position } ?? first.count
      first.insert((position, candidate), at: place)
      if first.count > heroesLimit { first.removeLast() }
    }
    return first.map(\.user)
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      if !heroes.isEmpty {
        writer.array("m.heroes", heroes) { $1.write($0) }
      }
      writer.member("m.joined_member_count", joinedCount)
      writer.member("m.invited_member_count", invitedCount)
    }
  }
}
