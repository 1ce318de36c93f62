import Database
import MatrixModel
import ServerCore
import ServerRooms
import ServerSync

/// The numbers that a push carries: of a user, over all rooms.
///
/// Spec: Push Gateway API, `Counts`.
struct UnreadBadge: Sendable, Equatable {
  var unread: Int64 = 0
  var missedCalls: Int64 = 0
}

/// Counts a user's badge.
final class UnreadBadges: Sendable {
  private let rooms: Rooms
  private let unread: Unread
  private let receipts: Receipts

  init(rooms: Rooms, unread: Unread, receipts: Receipts) {
    self.rooms = rooms
    self.unread = unread
    self.receipts = receipts
  }

  /// - Parameters:
  ///   - now: milliseconds since 1970: a call whose lifetime is over was missed.
  ///   - rows: whose transaction is open.
  func badge(of user: UserID, now: Int64, _ rows: SyncRows) throws -> UnreadBadge {
    let transaction = try rows.transaction()
    let account = try AccountSummary.read(of: user, rows)
    var badge = UnreadBadge()
    for (number, entry) in try rooms.memberships.rooms(of: user, in: transaction) where entry.membership == .join {
      guard let room = try rooms.cache.snapshot(of: number, in: transaction), room.isJoined(user) else { continue }
      let counts = try unread.counts(of: user, in: room, upTo: rows.completeUpTo, account, rows)
      guard counts.total.notifications > 0 else { continue }
      badge.unread += counts.total.notifications
      let read = try readPositions(of: user, in: number, rows)
      badge.missedCalls += Self.missedCalls(in: room, by: user, read, now)
    }
    return badge
  }

  func readPositions(of user: UserID, in room: RoomNumber, _ rows: SyncRows) throws -> ReadPositions {
    try receipts.readPositions(of: user, in: room, rows)
  }

  /// Calls among the newest events of a room that the user has neither taken nor seen, and that ring no longer.
  static func missedCalls(in room: RoomSnapshot, by user: UserID, _ read: ReadPositions, _ now: Int64) -> Int64 {
    var taken: Set<String> = []
    var ended: Set<String> = []
    var missed: Int64 = 0
    for event in room.tail.reversed() {
      guard let call = event.content["call_id"]?.string else { continue }
      switch event.type {
      case "m.call.answer", "m.call.reject": if event.sender == user { taken.insert(call) } else { ended.insert(call) }
      case "m.call.hangup": ended.insert(call)
      case "m.call.invite":
        guard event.sender != user, !read.hasRead(event.position, in: "main"), !taken.contains(call) else { continue }
        let lifetime = min(max(event.content["lifetime"]?.integer ?? 60_000, 0), 3_600_000)
        if ended.contains(call) || event.timestamp + lifetime <= now { missed += 1 }
      default: break
      }
    }
    return missed
  }
}
