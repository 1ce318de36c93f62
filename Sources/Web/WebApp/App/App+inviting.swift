import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Inviting several people at once.
extension App {
  /// Asks the user which people to invite.
  func openInvite(to room: RoomID) { dialogs.open { InvitePeopleDialog(self, to: room, in: $0) } }

  /// One after the other; `then` hears who could not be invited, and why the last of them.
  func invite(_ users: [UserID], to room: RoomID, _ then: @escaping ([UserID], ClientError?) -> Void) {
    shareHistory(of: room, with: users) { [self] in inviteNext(0, of: users, to: room, [], nil, then) }
  }

  /// Before they are invited: in an encrypted room that shows its history to later members they get its keys.
  private func shareHistory(of room: RoomID, with users: [UserID], _ then: @escaping () -> Void) {
    guard client.encrypts, let state = client.room(room), state.isEncrypted,
      state.historyVisibility == .shared || state.historyVisibility == .worldReadable
    else { return then() }
    effects.histories.give(room, to: users, then)
  }

  /// What comes before a command of the user.
  func prepare(_ command: Command, _ then: @escaping () -> Void) {
    switch command {
    case .people(.invite(let room, let user)):
      guard let user = UserID(user) else { return then() }
      return shareHistory(of: room, with: [user], then)
    case .rooms(.join(let address, _, _)):
      // Its sender may have given them the keys of what was said before.
      if let id = RoomID(address), let room = client.room(id), room.membership == .invite, let inviter = room.inviter {
        effects.encryption.accept(id, from: inviter)
      }
    default: break
    }
    then()
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
