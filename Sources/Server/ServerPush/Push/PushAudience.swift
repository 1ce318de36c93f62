import Database
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// Which users have pushers, and in which rooms they are: what an event costs depends on them, not on the room's size.
///
/// It is valid at the position up to which events were evaluated; the evaluation reports each member event on the way.
final class PushAudience: Sendable {
  private struct State {
    var pushers: [UserID: [Pusher.ID: Pusher.Kind]] = [:]
    var rooms: [RoomNumber: Set<UserID>] = [:]
    var beginning: Int64 = 0
  }

  private let state = Mutex(State())

  /// While nobody has a pusher, events need no evaluation.
  var isEmpty: Bool { state.withLock { $0.pushers.isEmpty } }

  /// No event up to this position is for anybody: it is where the first pusher came after there was none.
  var beginning: Int64 { state.withLock { $0.beginning } }

  func pushers(of user: UserID) -> [Pusher.ID: Pusher.Kind] { state.withLock { $0.pushers[user] ?? [:] } }

  func contains(_ user: UserID) -> Bool { state.withLock { $0.pushers[user] != nil } }

  /// Users with pushers who have joined the room.
  func users(in room: RoomNumber) -> Set<UserID> { state.withLock { $0.rooms[room] ?? [] } }

  var users: [UserID] { state.withLock { Array($0.pushers.keys) } }

  // MARK: Changes

  /// Reads all pushers and the rooms of who has some.
  func load(_ transaction: ReadTransaction) throws {
    for (id, kind) in try Self.pushers(transaction) { add(id, kind, in: try Self.rooms(of: id.userID, transaction), at: 0) }
  }

  static func pushers(_ transaction: ReadTransaction) throws -> [Pusher.ID: Pusher.Kind] {
    var pushers: [Pusher.ID: Pusher.Kind] = [:]
    try transaction.query("SELECT user_id, app_id, pushkey, kind FROM pusher") { row in
      let id = Pusher.ID(userID: row.identifier(0), appID: ByteString(row.text(1)), pushkey: ByteString(row.text(2)))
      pushers[id] = Pusher.Kind(rawValue: row.text(3)) ?? .http
    }
    return pushers
  }

  static func rooms(of user: UserID, _ transaction: ReadTransaction) throws -> [RoomNumber] {
    try transaction.all(
      "SELECT room FROM membership WHERE user_id = $1 AND membership = $2", user, Int64(Membership.join.rawValue)
    ) { RoomNumber($0.integer(0)) }
  }

  /// - Parameters:
  ///   - rooms: those the user is in.
  ///   - position: events after it are for the pusher.
  func add(_ pusher: Pusher.ID, _ kind: Pusher.Kind, in rooms: [RoomNumber], at position: Int64) {
    state.withLock { state in
      if state.pushers.isEmpty { state.beginning = position }
      state.pushers[pusher.userID, default: [:]][pusher] = kind
      for room in rooms { state.rooms[room, default: []].insert(pusher.userID) }
    }
  }

  func remove(_ pusher: Pusher.ID) {
    state.withLock { state in
      guard state.pushers[pusher.userID]?.removeValue(forKey: pusher) != nil,
        state.pushers[pusher.userID]?.isEmpty ?? false
      else { return }
      state.pushers[pusher.userID] = nil
      for (room, users) in state.rooms where users.contains(pusher.userID) {
        state.rooms[room] = users.count == 1 ? nil : users.subtracting([pusher.userID])
      }
    }
  }

  /// What a member event says of a user; nothing where they have no pushers.
  func note(_ membership: Membership, of user: UserID, in room: RoomNumber) {
    state.withLock { state in
      guard state.pushers[user] != nil else { return }
      if membership == .join {
        state.rooms[room, default: []].insert(user)
      } else {
        state.rooms[room]?.remove(user)
        if state.rooms[room]?.isEmpty ?? false { state.rooms[room] = nil }
      }
    }
  }
}
