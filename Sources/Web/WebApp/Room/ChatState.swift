import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// Of a chat with one person: whether they have joined it, and whether they could read what is encrypted.
final class ChatState<D: DOM> {
  private let app: App<D>
  private let bar: ChatBar<D>
  private var room: RoomID?
  /// Whether the other one was a member when the server was asked.
  private var askedMembership: Membership?
  /// As the server said last; nil before.
  private var canRead: Bool?
  private var asksForWishes = false
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
    }
    guard let state, let user = state.directUserID, user != app.userID, app.canWrite(in: state) else {
      return bar.show(.nothing)
    }
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
