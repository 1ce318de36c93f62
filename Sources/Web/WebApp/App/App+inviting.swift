import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs

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

  /// What comes before a command of the user. `then` is given what is left of it; nil if the user does not want it any more.
  func prepare(_ command: Command, _ then: @escaping (Command?) -> Void) {
    switch command {
    case .people(.invite(let room, let user)):
      guard let user = UserID(user) else { return then(command) }
      return shareHistory(of: room, with: [user]) { then(command) }
    case .rooms(.create(var room)) where room.isEncrypted ?? false:
      return awaitEncryption { isEncrypted in
        if isEncrypted == false { room.isEncrypted = false }
        then(isEncrypted.map { _ in .rooms(.create(room)) })
      }
    case .rooms(.openDirectChat(let user))
    where client.encryptsNewChats && wishes?.privateRooms ?? true && !hasChat(with: user):
      return awaitEncryption { then($0.map { _ in command }) }
    case .rooms(.joinByLink(let token)) where client.encryptsNewChats && effects.encryption.isBuilding:
      return ask(.invitation(token)) { [self] result in
        // The link of a person makes a chat.
        guard case .success(let found) = result, found.room == nil else { return then(command) }
        awaitEncryption { then($0.map { _ in command }) }
      }
    case .rooms(.join(let address, _, _)):
      // Its sender may have given them the keys of what was said before.
      if let id = RoomID(address), let room = client.room(id), room.membership == .invite, let inviter = room.inviter {
        effects.encryption.accept(id, from: inviter)
      }
    case .sending(.send(let id, _)): if client.room(id)?.isEncrypted ?? false { wroteEncrypted() }
    default: break
    }
    then(command)
  }

  /// Before something encrypted begins: where the server still builds what that needs the user waits for it, or decides against it.
  private func awaitEncryption(_ then: @escaping (_ isEncrypted: Bool?) -> Void) {
    guard effects.encryption.isBuilding else { return then(true) }
    dialogs.open(.more) { [self] in AwaitEncryptionDialog(effects.encryption, in: $0, then) }
  }

  private func hasChat(with user: ByteString) -> Bool { UserID(user).flatMap { chat(with: $0) } != nil }

  /// The direct chat with that user, if there is one.
  func chat(with user: UserID) -> Room? {
    for id in client.roomIDs {
      if let room = client.room(id), room.directUserID == user, room.membership == .join { return room }
    }
    return nil
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
