import JSON
import MatrixModel

/// Sorts a room's members, those who may most first and each role by user ID, a slice at a time: for a list of many thousands that must not
/// keep the page waiting.
package struct MemberOrder: Sendable {
  private struct Place: Sendable {
    let role: RoomRole
    let user: UserID

    static func < (left: Place, right: Place) -> Bool {
      left.role == right.role ? left.user < right.user : left.role > right.role
    }
  }

  private let levels: PowerLevels?
  private var waiting: [UserID] = []
  /// Each is sorted, and longer than those behind it together.
  private var runs: [[Place]] = []
  /// Users who ask to be let in, and users who were banned, by ID.
  package private(set) var knocking: [Member] = []
  package private(set) var banned: [Member] = []

  /// O(members).
  package init(of room: Room) {
    levels = room.powerLevels
    for member in room.state.members.all {
      switch member.membership {
      case .join, .invite: waiting.append(member.userID)
      case .knock: knocking.append(member)
      case .ban: banned.append(member)
      default: break
      }
    }
    knocking = knocking.ordered { $0.userID < $1.userID }
    banned = banned.ordered { $0.userID < $1.userID }
  }

  package var isDone: Bool { waiting.isEmpty && runs.count <= 1 }

  /// Sorts so many more of them, or brings together what is sorted.
  package mutating func goOn(_ count: Int) {
    if waiting.isEmpty { return merge() }
    let read = waiting.suffix(count).map { Place(role: levels?.role(of: $0) ?? .user, user: $0) }
    waiting.removeLast(read.count)
    runs.append(read.ordered { $0 < $1 })
    while runs.count > 1, runs[runs.count - 2].count <= runs[runs.count - 1].count { merge() }
  }

  /// The members in their order, once `isDone`.
  package var members: [UserID] { runs.first?.map { $0.user } ?? [] }

  /// Makes one of the last two runs.
  private mutating func merge() {
    guard runs.count > 1, let right = runs.popLast(), let left = runs.popLast() else { return }
    var merged: [Place] = []
    merged.reserveCapacity(left.count + right.count)
    var (l, r) = (0, 0)
    while l < left.count, r < right.count {
      if right[r] < left[l] {
        merged.append(right[r])
        r += 1
      } else {
        merged.append(left[l])
        l += 1
      }
    }
    merged += left[l...]
    merged += right[r...]
    runs.append(merged)
  }
}
