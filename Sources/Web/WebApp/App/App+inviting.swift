import ClientCore
import JSON
import MatrixModel
import Messenger

/// Inviting several people at once.
extension App {
  /// Asks whom to invite.
  func openInvite(to room: RoomID) {
    dialogs.open { frame in
      var count = 0
      _ = PromptDialog(
        self, .inviteTitle, label: .userID, isPerson: true, hint: Strings[.inviteManyHint],
        action: .invite, busy: .inviting, wrong: Strings.words(for: .invalidUserID), in: frame,
        run: { [self] text, ended in
          let (users, wrong) = users(in: text)
          guard wrong == nil, !users.isEmpty else { return false }
          invite(users, to: room) { [self] refused, error in
            count = users.count - refused.count
            guard count > 0 else { return ended(error) }
            ended(nil)
            if let error { sayNotInvited(refused, error) }
          }
          return true
        },
        { [self] _ in notices.show(Strings[.invited, count: count]) })
      InviteLinkBox(self, to: room, in: frame, at: frame.body)
    }
  }

  /// User IDs with spaces or commas between them, without one's own; or the first word that is none.
  func users(in text: String) -> (users: [UserID], wrong: String?) {
    var users: [UserID] = []
    for part in Array(text.utf8).split(whereSeparator: { $0 == 0x20 || $0 == 0x2C || $0 == 0x09 }) {
      let word = ByteString(decoding: part)
      guard let user = UserID(word) else { return ([], word.string) }
      if user != userID, !users.contains(user) { users.append(user) }
    }
    return (users, nil)
  }

  /// One after the other; `then` hears who could not be invited, and why the last of them.
  func invite(_ users: [UserID], to room: RoomID, _ then: @escaping ([UserID], ClientError?) -> Void) {
    inviteNext(0, of: users, to: room, [], nil, then)
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
    for user in users { names += (names.utf8.isEmpty ? "" : ", ") + user.string }
    notices.show(Strings[.notInvited, names, Strings.words(for: error)], isTrouble: true)
  }
}
