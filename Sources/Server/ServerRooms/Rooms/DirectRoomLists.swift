import Database
import JSON
import MatrixModel
import ServerAccounts

/// The lists of direct rooms that users have in their account data.
package struct DirectRoomLists: RoomObserver {
  /// Two users in byte order.
  struct Pair {
    let lower, higher: UserID

    init(_ one: UserID, _ other: UserID) { (lower, higher) = one < other ? (one, other) : (other, one) }
  }

  private let accountData: AccountData

  package init(accountData: AccountData) { self.accountData = accountData }

  /// A user who joins a room after an invitation to a direct room gets it into `m.direct`.
  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
    guard event.type == .member, let key = event.stateKey, Membership(event.content["membership"]) == .join,
      let invitation = event.replaced, let content = try? JSON.parse(invitation.content),
      Membership(content["membership"]) == .invite, content["is_direct"]?.bool ?? false
    else { return }
    let user = UserID(trusted: key)
    let pair = try transaction.first("SELECT lower_user, higher_user FROM direct_room WHERE room = $1", room.number) {
      Pair($0.identifier(0), $0.identifier(1))
    }
    guard let pair, pair.lower == user || pair.higher == user else { return }
    do {
      try add(room.roomID, with: pair.lower == user ? pair.higher : pair.lower, for: user, transaction)
    } catch is MatrixError {
      // Their account data is full: that keeps nobody out of a room.
    }
  }

  /// Puts the room into `m.direct` of `user`. Spec: Client-Server API, "Direct Messaging".
  func add(
    _ roomID: RoomID, with other: UserID, for user: UserID, _ transaction: WriteTransaction
  ) throws {
    let content = try AccountData.content(transaction, of: .direct, user, in: nil)
    let direct = try content.map { try JSON.parse($0) }
    let known = direct?[other.text]?.elements.compactMap(\.text) ?? []
    guard !known.contains(roomID.text) else { return }
    let changed = try JSON.object { writer in
      for member in direct?.members.map({ $0 }) ?? [] where member.key != other.text {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key(other)
      writer.array { writer in for room in known + [roomID.text] { writer.write(room) } }
    }
    try accountData.store(transaction, .direct, Array(changed.bytes), of: user, in: nil)
  }
}
