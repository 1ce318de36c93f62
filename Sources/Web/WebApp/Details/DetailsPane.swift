import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Beside a conversation: of a direct chat the person, else the room and who is in it. What is rarely needed is in its settings.
final class DetailsPane<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let close: Node
  private let person: PersonDetails<D>
  /// What a room has and a direct chat has not.
  private let group: [Node]
  private let title: RoomTitle<D>
  private let safety: SafetyLine<D>
  private let notifications: Node
  /// What a space has not.
  private let conversationLines: [Node]
  /// What is called otherwise in a chat of two.
  private let chatWords: [(line: Node, chat: Strings.Key, room: Strings.Key)]
  private var settings: RoomSettingsDialog<D>?
  private var since: TextView<D>
  private let members: MemberList<D>
  private var room: RoomID?
  /// Others are members, or they may something else; or some of them are there or have gone.
  private var needsMembers = false
  private var needsPresence = false
  /// Not before they are all there.
  private var isLoading = false

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("aside", "ma-details", in: parent)
    dom.setLabel(node, .details)
    dom.markPart(node)
    let header = dom.element("header", "ma-header", in: node)
    dom.element("h2", "ma-list-title", text: .about, in: header)
    close = dom.button("ma-round", icon: .close, label: .close, in: header)
    let scroller = dom.element("div", "ma-details-body", in: node)
    let end = dom.element("div", "ma-lines")
    person = PersonDetails(app, in: scroller, end: end)
    let about = dom.element("div", "ma-details-part", in: scroller)
    title = RoomTitle(app, in: about)
    safety = SafetyLine(dom, in: scroller)
    let lines = dom.element("div", "ma-lines", in: scroller)
    let shared = dom.button("ma-line", .sharedInRoom, icon: .picture, in: lines)
    let pinned = dom.button("ma-line", .pinnedMessages, icon: .pin, in: lines)
    notifications = dom.button("ma-line", .notifications, icon: .bell, in: lines)
    let setUp = dom.button("ma-line", icon: .gear, in: lines)
    let people = dom.element("div", "ma-details-part", in: scroller)
    since = TextView(dom, "p", "ma-note", in: people)
    members = MemberList(app, in: people)
    group = [about, people]
    dom.append(end, to: scroller)
    let report = dom.button("ma-line", icon: .flag, in: end)
    let leave = dom.button("ma-line ma-line-danger", icon: .exit, in: end)
    conversationLines = [shared, pinned, notifications]
    chatWords = [
      (dom.element("span", "ma-button-text", in: setUp), .chatSettings, .roomSettings),
      (dom.element("span", "ma-button-text", in: report), .reportChat, .reportRoom),
      (dom.element("span", "ma-button-text", in: leave), .leaveChat, .leave)
    ]
    dom.setFlag(node, "hidden", true)
    dom.on(report, .click) { [self] _ in
      guard let room else { return }
      let words: Strings.Key = app.isChat(room) ? .reportChat : .reportRoom
      app.dialogs.open { ReportDialog(app, words, in: $0) { .report(room, reason: $0) } }
    }
    for (line, content) in [(shared, SidePanel<D>.Content.shared), (pinned, .pinned)] {
      dom.on(line, .click) { [self] _ in
        hide()
        app.main?.room?.panel.show(content)
      }
    }
    dom.on(notifications, .click) { [self] _ in
      if let room { app.dialogs.open(as: .menu) { NotificationMenu(app, room, in: $0) } }
    }
    dom.on(setUp, .click) { [self] _ in
      guard let room, let state = app.client.room(room) else { return }
      app.dialogs.open(as: .page) { settings = RoomSettingsDialog(app, state, in: $0) }
    }
    dom.on(close, .click) { [self] _ in hide() }
    dom.on(leave, .click) { [self] _ in askLeave() }
    dom.listen(node, .keyDown) { [self] event in
      guard case .escape = event.key else { return .pass }
      hide()
      return .preventDefault
    }
  }

  private func hide() { if let room { app.goTo(.room(room)) } }

  @inline(never)
  func show(_ id: RoomID?) {
    guard id != room else { return }
    room = id
    dom.setFlag(node, "hidden", id == nil)
    members.clear()
    guard let id else { return }
    update()
    guard room == id else { return }
    members.showLoading()
    showSince(id)
    isLoading = true
    app.ask(.people(.loadMembers(id))) { [self] result in
      guard room == id else { return }
      if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
      isLoading = false
      needsMembers = true
    }
    dom.focus(close)
  }

  @inline(never)
  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    guard id == room else { return }
    update()
    settings?.update()
    if !aspects.isDisjoint(with: [.memberCounts, .members, .settings]) { needsMembers = true }
  }

  @inline(never)
  func membersChanged(_ id: RoomID, _ users: [UserID] = []) {
    guard id == room else { return }
    members.changed(users)
    if users.isEmpty { needsPresence = true } else { needsMembers = true }
  }

  /// Somebody is verified now.
  @inline(never)
  func trustChanged() {
    person.trustChanged()
    members.trustChanged()
  }

  /// Somebody is blocked, or is not any more.
  @inline(never)
  func ignoredChanged() { update() }

  @inline(never)
  func settle() {
    guard needsMembers || needsPresence, !isLoading, let id = room, let state = app.client.room(id) else { return }
    if needsMembers { members.show(state) } else { members.showPresence(state) }
    needsMembers = false
    needsPresence = false
  }

  private func update() {
    guard let id = room, let state = app.client.room(id) else { return }
    // Shown out while looking: nothing here can be done any more.
    guard state.membership == .join else { return app.goTo(.room(id), replacing: true) }
    let isPerson = state.directUserID != nil
    person.update(isPerson ? state : nil)
    for part in group { dom.setFlag(part, "hidden", isPerson) }
    for (line, chat, room) in chatWords { dom.setText(line, isPerson ? chat : room) }
    for line in conversationLines { dom.setFlag(line, "hidden", state.isSpace) }
    title.update(state)
    safety.update(state)
    members.update(state)
  }

  /// How much was said since one joined, where the server counts it.
  private func showSince(_ id: RoomID) {
    since.set("")
    guard app.client.offeredExtensions?.contains(.sinceJoined) ?? false else { return }
    app.ask(.messagesSinceJoined(id)) { [self] result in
      if room == id, case .success(let count) = result { since.set(Strings[.sinceJoined, count: count]) }
    }
  }

  private func askLeave() {
    if let id = room { app.askToLeave(id) { [app] in app.goTo(.list, replacing: true) } }
  }
}

extension App {
  /// Whether it is a chat with one person.
  func isChat(_ room: RoomID) -> Bool { client.room(room)?.directUserID != nil }

  func askToLeave(_ room: RoomID, _ left: @escaping () -> Void) {
    let isChat = isChat(room)
    let state = client.room(room)
    let name = state.map { Strings.words(for: $0.name) } ?? room.string
    let isMissed = !isChat && state.map { isOnlyAdministrator(of: $0) } ?? false
    dialogs.open {
      _ = ConfirmDialog(
        self, isChat ? Strings[.leaveChatQuestion] : Strings[.leaveQuestion, name],
        note: Strings[isChat ? .leaveChatNote : isMissed ? .leaveOnlyAdmin : .leaveNote],
        action: isChat ? .leaveChat : .leave, busy: .leaving, .rooms(.leave(room)), in: $0
      ) {
        // Whoever comes back begins at the newest message.
        left()
        SavedPlace.forget(room)
      }
    }
  }

  /// Whether the room has other members, and none of them has the user's power over it.
  private func isOnlyAdministrator(of room: Room) -> Bool {
    guard let own = userID, let levels = room.powerLevels, levels.role(of: own) >= .administrator, room.joinedMemberCount > 1
    else {
      return false
    }
    let others = levels.creators + levels.users.keys.compactMap { UserID($0) }
    return !others.contains { user in
      // Of members that are not loaded it is not known that they have gone.
      user != own && levels.role(of: user) >= .administrator && room.membership(of: user) ?? .join == .join
    }
  }

  /// Whether the user may do this. True if it is not known: then the server decides.
  func may(_ action: RoomAction, in room: RoomID) -> Bool { client.can(action, in: room) ?? true }
}
