import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Inviting several people at once.
extension App {
  /// Asks the user which people to invite.
  func openInvite(to room: RoomID) { dialogs.open { InvitePeopleDialog(self, to: room, in: $0) } }

  /// One after the other; `then` hears who could not be invited, and why the last of them. In an encrypted room that shows its history to later
  /// members they get its keys first.
  func invite(_ users: [UserID], to room: RoomID, _ then: @escaping ([UserID], ClientError?) -> Void) {
    guard let state = client.room(room), state.isEncrypted, client.encrypts,
      state.historyVisibility == .shared || state.historyVisibility == .worldReadable
    else { return inviteNext(0, of: users, to: room, [], nil, then) }
    effects.histories.give(room, to: users) { [self] in inviteNext(0, of: users, to: room, [], nil, then) }
  }

  private func inviteNext(
    _ index: Int, of users: [UserID], to room: RoomID, _ refused: [UserID], _ last: ClientError?,
    _ then: @escaping ([UserID], ClientError?) -> Void
  ) {
    guard index < users.count else { return then(refused, last) }
    let user = users[index]
    save(.invite(user, to: room)) { [self] error in
      inviteNext(index + 1, of: users, to: room, refused + (error == nil ? [] : [user]), error ?? last, then)
    }
  }

  func sayNotInvited(_ users: [UserID], _ error: ClientError) {
    var names = ""
    for user in users { names += (names.utf8.isEmpty ? "" : ", ") + client.person(user).name.string }
    notices.show(Strings[.notInvited, names, Strings.words(for: error)], isTrouble: true)
  }
}
