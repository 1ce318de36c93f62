import Database
import JSON
import MatrixModel
import ServerAccounts

extension EventType {
  /// Account data: `rooms` lists the IDs of the policy rooms that the user subscribes to.
  package static let policyLists: EventType = "martlet.policy_lists"
}

/// What the rules of some policy rooms ban. Spec: Client-Server API, "Moderation policy lists".
///
/// Looks through the rooms' state anew each time: invitations and joins are few, and a rule counts from its commit on.
struct PolicyRules {
  /// Policy rooms of one subscriber that are looked at.
  static let roomsLimit = 50

  private let rooms: [RoomSnapshot]

  init(_ rooms: [RoomSnapshot]) { self.rooms = rooms }

  var isEmpty: Bool { rooms.isEmpty }

  /// By the user's ID or their server's name.
  func bans(user: UserID) -> Bool {
    bans(.policyRuleUser, [user.text]) || bans(.policyRuleServer, [user.serverName.text])
  }

  /// By any of the room's names: ID and aliases.
  func bans(room names: [ByteString]) -> Bool { bans(.policyRuleRoom, names) }

  private func bans(_ type: EventType, _ names: [ByteString]) -> Bool {
    rooms.contains { room in
      room.state.contains { key, event in
        guard key.type == type, event.content["recommendation"]?.isString("m.ban") ?? false,
          let entity = event.content["entity"]?.text, !entity.isEmpty
        else { return false }
        let pattern = GlobPattern(entity)
        return names.contains { pattern.matches($0) }
      }
    }
  }
}

extension Rooms {
  /// The rules of the policy rooms that the operator named.
  func serverPolicyRules(in transaction: ReadTransaction) throws -> PolicyRules {
    PolicyRules(try configuration.policyRooms.compactMap { try cache.snapshot(of: $0, in: transaction) })
  }

  /// The rules of the policy rooms that the user names in `martlet.policy_lists` and may read.
  func policyRules(of user: UserID, in transaction: ReadTransaction) throws -> PolicyRules {
    guard let content = try AccountData.content(transaction, of: .policyLists, user, in: nil) else { return PolicyRules([]) }
    let named = try JSON.parse(content)["rooms"]?.elements.compactMap { RoomID($0) } ?? []
    return PolicyRules(
      try named.prefix(PolicyRules.roomsLimit).compactMap { roomID in
        guard let room = try cache.snapshot(of: roomID, in: transaction) else { return nil }
        return try RoomView(room, user: user, in: transaction, expiry: expiry(of: room)).canRead ? room : nil
      })
  }
}
