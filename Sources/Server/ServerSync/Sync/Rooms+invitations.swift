import MatrixModel
import ServerRooms

extension Rooms {
  /// Whether an invitation is kept from a user by what they have set; those of the server's notices never are.
  func hidesInvitation(by sender: UserID, from account: AccountSummary) -> Bool {
    sender != configuration.noticesUser && (account.blocksInvitations || account.ignored.contains(sender))
  }
}
