import Database
import MatrixModel
import ServerAccounts
import ServerRooms

/// The changes of rooms and accounts that may take users out of calls, in the order of their commits.
package final class CallChanges: RoomObserver, AccountObserver {
  enum Change: Sendable {
    /// The user is not joined to the room.
    case member(UserID, RoomID)
    case powerLevels(RoomID)
    /// An account or its devices.
    case account(UserID)
  }

  /// For the call server. Ends with `finish()`.
  let stream: AsyncStream<Change>
  private let input: AsyncStream<Change>.Continuation

  package init() { (stream, input) = AsyncStream.makeStream(of: Change.self) }

  func finish() { input.finish() }

  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
    let roomID = room.roomID
    if event.type == .powerLevels { return transaction.afterPublish { self.input.yield(.powerLevels(roomID)) } }
    guard event.type == .member, Membership(event.content["membership"]) != .join, let key = event.stateKey else { return }
    let user = UserID(trusted: key)
    transaction.afterPublish { self.input.yield(.member(user, roomID)) }
  }

  package func sessionsChanged(of userID: UserID) { input.yield(.account(userID)) }
}
