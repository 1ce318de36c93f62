import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs

/// A member of a room: who it is, a way to write to them, and the actions that the user may take.
struct MemberDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let user: UserID
  private let room: RoomID
  private let frame: DialogFrame<D>

  @discardableResult
  init(_ app: App<D>, _ user: UserID, in room: RoomID, at frame: DialogFrame<D>) {
    self.app = app
    self.user = user
    self.room = room
    self.frame = frame
    dom = app.dom
    let state = app.client.room(room)
    let name = state?.displayName(of: user).string ?? user.string
    frame.setTitle(name)
    let top = dom.element("div", "ma-profile", in: frame.body)
    dom.avatar("ma-avatar-large", in: top).show(
      id: user.string, name: name, source: app.avatarSource(state?.avatar(of: user)))
    CopyLine(app, .userID, user.string, in: frame.body)
    if let presence = app.client.presence(of: user) {
      dom.element("p", "ma-note", text: Strings.words(for: presence), in: frame.body)
    }
    let isOther = user != app.userID
    if isOther {
      let trust = app.verifications.trustLine(in: frame.body)
      trust.show(user.text, name: name)
      app.verifications.onDone = { [frame] in if frame.isOpen { trust.refresh() } }
      addContact(state)
    }
    addRole(state)
    guard isOther else { return }
    addIgnoring()
    let buttons = dom.element("div", "ma-buttons ma-card-ending", in: frame.body)
    let report = dom.button("ma-button", .reportPerson, in: buttons)
    dom.on(report, .click) { [app] _ in
      app.dialogs.open { ReportDialog(app, .reportPerson, in: $0) { .report(user, reason: $0) } }
    }
    if let state, state.membership == .join, !state.isDirect { addModeration(state, name, in: buttons) }
  }

  /// The ways to speak to them, the likeliest first.
  private func addContact(_ state: Room?) {
    let buttons = dom.element("div", "ma-buttons ma-card-contact", in: frame.body)
    let trouble = frame.trouble(in: frame.body)
    let write = SubmitButton(dom, .message, busy: .starting, in: buttons)
    frame.setFirst(write.node)
    dom.on(write.node, .click) { [app, frame, user] _ in
      guard !write.isBusy else { return }
      frame.enterRoom(app, by: .rooms(.openDirectChat(with: user.text)), write, trouble)
    }
    guard let screen = app.main?.room, screen.room == room, let state, !state.isDirect, app.canWrite(in: state),
      state.membership(of: user) == .join
    else { return }
    let mention = dom.button("ma-button", .mentionPerson, in: buttons)
    dom.on(mention, .click) { [frame, user] _ in
      frame.close()
      screen.conversation.writer.mention(user)
    }
  }

  // MARK: Role

  private func addRole(_ state: Room?) {
    guard let levels = state?.powerLevels, state?.membership == .join else { return }
    let level = levels.level(of: user)
    let role = RoomRole(level)
    var options: [(value: String, words: String)] = []
    for role in [RoomRole.muted, .user, .moderator, .administrator] {
      guard let new = role.suggestedLevel, new == level.value || app.may(.setPowerLevel(of: user, to: new), in: room) else {
        continue
      }
      options.append(("\(new)", Strings.words(for: role)))
    }
    let isListed = options.contains { $0.value.hasSameBytes(as: "\(level.value)") }
    if !isListed, !level.isCreator { options.append(("\(level.value)", Strings[.roleOfLevel, "\(level.value)"])) }
    guard options.count > 1, !level.isCreator, user != app.userID else {
      if role != .user { dom.element("p", "ma-note", text: Strings.words(for: role), in: frame.body) }
      return
    }
    Choice(dom, Strings[.role], options, selected: "\(level.value)", in: frame.body) { [app, user, room] text in
      guard let level = Int64(text) else { return }
      app.askOrSay(.people(.setPowerLevel(room, of: user, to: level)))
    }
  }

  private func addIgnoring() {
    let line = dom.element("label", "ma-check", in: frame.body)
    let check = dom.element("input", in: line)
    dom.setAttribute(check, "type", "checkbox")
    if app.client.ignoredUsers.contains(user) { dom.setFlag(check, "checked", true) }
    dom.element("span", text: .ignoreUser, in: line)
    dom.on(check, .change) { [app, user] in app.askOrSay(.people(.setIgnored(user, $0.x == 1))) }
  }

  // MARK: Moderation

  private func addModeration(_ state: Room, _ name: String, in buttons: Node) {
    let membership = state.membership(of: user)
    if membership == .ban {
      if app.may(.unban(user), in: room) {
        ask(.unban, .unban, .removing, name, in: buttons) { [room, user] _ in .people(.unban(room, user)) }
      }
      return
    }
    let isIn = membership == .join || membership == .invite || membership == .knock
    if isIn, app.may(.kick(user), in: room) {
      ask(.remove, .removeQuestion, .removing, name, in: buttons) { [room, user] in .people(.kick(room, user, reason: $0)) }
    }
    if app.may(.ban(user), in: room) {
      ask(.ban, .banQuestion, .removing, name, in: buttons) { [room, user] in .people(.ban(room, user, reason: $0)) }
    }
  }

  private func ask(
    _ action: Strings.Key, _ question: Strings.Key, _ busy: Strings.Key, _ name: String, in buttons: Node,
    _ command: @escaping (ByteString?) -> Command
  ) {
    let button = dom.button("ma-button ma-danger", Strings[action], in: buttons)
    dom.on(button, .click) { [app, frame] _ in
      app.dialogs.open {
        _ = PromptDialog(
          app, question, label: .reasonOptional, hint: name, action: action, busy: busy,
          in: $0, { command($0.utf8.isEmpty ? nil : ByteString($0)) }, { _ in frame.close() })
      }
    }
  }
}
