import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// Of a chat with one person: whether they have joined it, and whether they could read what is encrypted. Of an encrypted room: who is invited and
/// could not read it.
final class ChatState<D: DOM> {
  /// Members of a room, and invited ones, beyond which nobody is asked for.
  private static var membersLimit: Int { 50 }
  private static var invitedLimit: Int { 10 }

  private let app: App<D>
  private let bar: ChatBar<D>
  private var room: RoomID?
  /// Whether the other one was a member when the server was asked.
  private var askedMembership: Membership?
  /// As the server said last; nil before.
  private var canRead: Bool?
  private var asksForWishes = false
  /// Of those who are invited to the room; true until the server has said otherwise.
  private var invitedCanRead: [UserID: Bool] = [:]
  /// What the server says is known.
  var onLearned: () -> Void = {}

  init(_ app: App<D>, in column: Node, before next: Node) {
    self.app = app
    bar = ChatBar(app.dom, in: column, before: next)
    bar.onEncrypt = { [self] in if let room { app.askToEncrypt(room) } }
    bar.onPutOff = { [self] in
      guard let room else { return }
      Host.setSetting(Settings.open(room), "1")
      bar.show(.nothing)
    }
  }

  func update(_ state: Room?) {
    if state?.id != room {
      room = state?.id
      canRead = nil
      askedMembership = nil
      invitedCanRead = [:]
    }
    guard let state, app.canWrite(in: state) else { return bar.show(.nothing) }
    guard let user = state.directUserID, user != app.userID else { return updateRoom(state) }
    learn(state, user)
    let name = state.displayName(of: user).string
    if app.couldEncrypt(state), canRead == true, app.may(.sendState(.encryption), in: state.id),
      Host.setting(Settings.open(state.id)) == nil
    {
      bar.show(.canEncrypt(name))
    } else {
      bar.show(membership(of: user, in: state) == .invite ? .notJoined(name) : .nothing)
    }
  }

  private func updateRoom(_ state: Room) {
    guard state.isEncrypted, app.client.encrypts, (1...Self.invitedLimit).contains(state.invitedMemberCount),
      state.joinedMemberCount <= Self.membersLimit
    else { return bar.show(.nothing) }
    let invited = state.members.filter { $0.membership == .invite }.map { $0.userID }
    for user in invited where invitedCanRead[user] == nil { learn(of: user, invitedTo: state.id) }
    let names = invited.filter { invitedCanRead[$0] == false }.map { state.displayName(of: $0).string }
    bar.show(names.isEmpty ? .nothing : .cannotRead(Strings.list(names)))
  }

  private func learn(of user: UserID, invitedTo id: RoomID) {
    invitedCanRead[user] = true
    app.ask(.canRead(user)) { [self] result in
      guard room == id, case .success(false) = result else { return }
      invitedCanRead[user] = false
      update(app.client.room(id))
      app.dom.flush()
    }
  }

  /// Whether it is known that what is written cannot be encrypted yet.
  var isUnreadable: Bool { canRead == false }

  /// Once for each time that the chat is opened, and when the other one joins it.
  private func learn(_ state: Room, _ user: UserID) {
    if app.wishes == nil, app.client.connectionIsRunning, !asksForWishes {
      asksForWishes = true
      app.learnWishes { [self] _ in onLearned() }
    }
    let membership = membership(of: user, in: state)
    guard app.couldEncrypt(state), askedMembership == nil || membership != askedMembership else { return }
    askedMembership = membership
    app.ask(.canRead(user)) { [self] result in
      guard room == state.id, case .success(let found) = result else { return }
      canRead = found
      onLearned()
      app.dom.flush()
    }
  }

  private func membership(of user: UserID, in state: Room) -> Membership {
    state.membership(of: user) ?? (state.invitedMemberCount > 0 && state.joinedMemberCount == 1 ? .invite : .join)
  }
}

extension App {
  /// Whether a chat is not encrypted although the person and their server want new ones to be.
  func couldEncrypt(_ room: Room) -> Bool {
    !room.isEncrypted && client.encryptsNewChats && wishes?.privateRooms ?? false
  }

  func askToEncrypt(_ room: RoomID) {
    let content = Array(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#.utf8)
    dialogs.open {
      ConfirmDialog(
        Strings[.turnOnEncryptionAsk], note: Strings[.encryptRoomNote], action: .turnOn, busy: .turningOn, in: $0,
        run: { [self] ended in save(.setState(.encryption, content, of: room)) { ended($0.map { Strings.words(for: $0) }) } })
    }
  }
}
