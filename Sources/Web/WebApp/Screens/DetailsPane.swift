import ClientCore
import JSON
import MatrixModel
import Messenger

/// Name, topic and members of the open room, and the way out of it.
final class DetailsPane<D: DOM> {
  /// Members listed; the rest is a number.
  private static var shownMembers: Int { 500 }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private let close: Node
  private let avatar: AvatarView<D>
  private var name: TextView<D>
  private var topic: TextView<D>
  private let editName: Node
  private let editTopic: Node
  private let address: Node
  private var peopleTitle: TextView<D>
  private let invite: Node
  private let members: Node
  private var room: RoomID?
  private var needsMembers = false

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("aside", "ma-details", in: parent)
    dom.setLabel(node, Strings[.details])
    let header = dom.element("header", "ma-header", in: node)
    dom.element("h2", "ma-list-title", text: Strings[.about], in: header)
    close = dom.button("ma-round", icon: .close, label: Strings[.close], in: header)
    let scroller = dom.element("div", "ma-details-body", in: node)
    let top = dom.element("div", "ma-profile", in: scroller)
    avatar = dom.avatar("ma-avatar-large", in: top)
    name = TextView(dom, "h3", "ma-details-name", in: top)
    editName = dom.button("ma-link", Strings[.edit], label: Strings[.edit] + ": " + Strings[.roomName], in: top)
    let about = dom.element("div", "ma-section", in: scroller)
    dom.element("h4", "ma-field-label", text: Strings[.topic], in: about)
    topic = TextView(dom, "p", "ma-topic", in: about)
    editTopic = dom.button("ma-link", Strings[.edit], label: Strings[.edit] + ": " + Strings[.topic], in: about)
    address = dom.element("div", in: scroller)
    let people = dom.element("div", "ma-section ma-people", in: scroller)
    let line = dom.element("div", "ma-section-line", in: people)
    peopleTitle = TextView(dom, "h4", "ma-field-label", in: line)
    invite = dom.button("ma-button ma-small ma-primary", Strings[.invite], in: line)
    members = dom.element("div", "ma-members", in: people)
    let leave = dom.button("ma-button ma-danger ma-wide", Strings[.leave], icon: .exit, in: scroller)
    dom.setFlag(node, "hidden", true)
    dom.on(close, .click) { [self] _ in hide() }
    dom.on(editName, .click) { [self] _ in askName() }
    dom.on(editTopic, .click) { [self] _ in askTopic() }
    dom.on(invite, .click) { [self] _ in askInvite() }
    dom.on(leave, .click) { [self] _ in askLeave() }
    dom.listen(node, .keyDown) { [self] event in
      guard case .escape = event.key else { return .pass }
      hide()
      return .preventDefault
    }
  }

  private func hide() { if let room { app.goTo(.room(room)) } }

  func show(_ id: RoomID?) {
    guard id != room else { return }
    room = id
    dom.setFlag(node, "hidden", id == nil)
    dom.releaseChildren(of: members)
    guard let id else { return }
    update()
    guard room == id else { return }
    dom.element("p", "ma-note", text: Strings[.loadingMembers], in: members)
    app.ask(.loadMembers(id)) { [self] result in
      guard room == id else { return }
      if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
      showMembers()
    }
    dom.focus(close)
  }

  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    guard id == room else { return }
    update()
    if aspects.contains(.memberCounts) { needsMembers = true }
  }

  func membersChanged(_ id: RoomID) { if id == room { needsMembers = true } }

  func settle() {
    if needsMembers { showMembers() }
    needsMembers = false
  }

  private func update() {
    guard let id = room, let state = app.client.room(id) else { return }
    // Shown out while looking: nothing here can be done any more.
    guard state.membership == .join else { return app.goTo(.room(id), replacing: true) }
    let title = Strings.words(for: state.name)
    avatar.show(id: state.directUserID?.string ?? id.string, name: title, source: app.avatarSource(state.avatar))
    name.set(title)
    topic.set(state.topic?.string ?? Strings[.noTopic])
    peopleTitle.set(Strings[.members, count: state.joinedMemberCount])
    showWhatIsAllowed(state)
    dom.releaseChildren(of: address)
    if let alias = state.canonicalAlias { CopyLine(app, Strings[.address], alias.string, in: address) }
  }

  /// Where it is unknown what one may do, the server says it.
  private func showWhatIsAllowed(_ state: Room) {
    guard let me = app.userID else { return }
    let levels = state.powerLevels
    dom.setFlag(editName, "hidden", levels.map { !$0.canSend(.name, isState: true, by: me) } ?? false)
    dom.setFlag(editTopic, "hidden", levels.map { !$0.canSend(.topic, isState: true, by: me) } ?? false)
    dom.setFlag(invite, "hidden", levels.map { !$0.canInvite(by: me) } ?? false)
  }

  // MARK: Members

  private func showMembers() {
    guard let id = room, let state = app.client.room(id) else { return }
    dom.releaseChildren(of: members)
    let all = state.members
    for member in all.prefix(DetailsPane.shownMembers) { add(member, state) }
    let left = all.count - DetailsPane.shownMembers
    if left > 0 { dom.element("p", "ma-note", text: Strings[.moreMembers, count: left], in: members) }
  }

  private func add(_ member: Member, _ state: Room) {
    let user = member.userID
    let name = state.displayName(of: user).string
    let button = dom.button("ma-member", in: members)
    dom.avatar("ma-avatar-small", in: button).show(id: user.string, name: name, source: app.avatarSource(member.avatar))
    let lines = dom.element("span", "ma-entry-lines", in: button)
    dom.element("span", "ma-entry-name", text: name, in: lines)
    dom.element("span", "ma-entry-preview", text: user.string, in: lines)
    let remark = member.membership == .invite ? Strings[.isInvited] : user == app.userID ? Strings[.isYou] : ""
    if !remark.utf8.isEmpty { dom.element("span", "ma-remark", text: remark, in: button) }
    let (app, room) = (app, state.id)
    dom.on(button, .click) { _ in app.dialogs.open { MemberDialog(app, user, in: room, at: $0) } }
  }

  // MARK: Asking

  private func askName() {
    guard let id = room else { return }
    var text = ""
    if case .text(let name)? = app.client.room(id)?.name { text = name.string }
    app.dialogs.open {
      _ = PromptDialog(
        app, Strings[.roomName], label: Strings[.roomName], text: text, action: Strings[.save], busy: Strings[.saving], in: $0,
        { .setRoomName(id, ByteString($0)) })
    }
  }

  private func askTopic() {
    guard let id = room else { return }
    let text = app.client.room(id)?.topic?.string ?? ""
    app.dialogs.open {
      _ = PromptDialog(
        app, Strings[.topic], label: Strings[.topic], text: text, action: Strings[.save], busy: Strings[.saving], in: $0,
        { .setRoomTopic(id, ByteString($0)) })
    }
  }

  private func askInvite() {
    guard let id = room else { return }
    app.dialogs.open {
      _ = PromptDialog(
        app, Strings[.inviteTitle], label: Strings[.userID], hint: Strings[.inviteHint], action: Strings[.invite],
        busy: Strings[.inviting],
        wrong: Strings.words(for: .invalidUserID), in: $0,
        { UserID($0) == nil ? nil : .invite(id, user: ByteString($0)) }, { [app] in app.notices.show(Strings[.invited, $0]) })
    }
  }

  private func askLeave() {
    guard let id = room else { return }
    app.dialogs.open {
      _ = ConfirmDialog(
        app, Strings[.leaveQuestion], note: Strings[.leaveNote], action: Strings[.leave], busy: Strings[.leaving], .leave(id),
        in: $0
      ) { [app] in app.goTo(.list, replacing: true) }
    }
  }
}
