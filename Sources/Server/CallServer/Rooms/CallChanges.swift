import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// The changes of rooms and accounts that may take users out of calls, in the order of their commits.
package final class CallChanges: RoomObserver, AccountObserver {
  enum Change: Sendable {
    /// A user's membership has changed.
    case member(UserID, RoomNumber)
    case powerLevels(RoomNumber)
    /// An account or its devices.
    case account(UserID)
  }

  /// For the call server. Ends with `finish()`.
  let stream: AsyncStream<Change>
  private let input: AsyncStream<Change>.Continuation

  package init() { (stream, input) = AsyncStream.makeStream(of: Change.self) }

  func finish() { input.finish() }

  package func published(_ news: Note.RoomNews) {
    if news.hasPowerLevels { input.yield(.powerLevels(news.number)) }
    for user in news.members { input.yield(.member(user, news.number)) }
  }

  package func sessionsChanged(of userID: UserID) { input.yield(.account(userID)) }
}
