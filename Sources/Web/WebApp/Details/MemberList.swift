import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Who is in a room, with their roles; who asks to be let in, and who was banned.
final class MemberList<D: DOM> {
  /// Members listed at once; more come as one asks for them.
  private static var pageMembers: Int { 200 }
  /// Fewer than this need no search field.
  private static var filterFrom: Int { 8 }

  private let app: App<D>
  private let dom: D
  private var title: TextView<D>
  private var here: TextView<D>
  private let invite: Node
  private let filter: Field<D>
  private let knocking: Node
  private let members: Node
  private let more: Node
  private let banned: Node
  /// Finds them by a few letters.
  private let crowd: Crowd<D>
  private var left: ArraySlice<UserID> = []
  private var shownFound: [UserID] = []
  /// Pages that were asked for stay where the list is drawn anew.
  private var shownCount = MemberList.pageMembers
  private var room: RoomID?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    crowd = Crowd(app, hasOwn: true)
    dom = app.dom
    let people = dom.element("div", "ma-section ma-people", in: parent)
    let line = dom.element("div", "ma-section-line", in: people)
    title = TextView(dom, "h4", "ma-field-label", in: line)
    here = TextView(dom, "span", "ma-note ma-is-here", in: line)
    invite = dom.button("ma-button ma-small ma-primary", .invite, in: line)
    knocking = dom.element("div", "ma-members", in: people)
    filter = Field(dom, .searchMembers, kind: "search", in: people)
    members = dom.element("div", "ma-members", in: people)
    dom.setAttribute(members, "role", "list")
    dom.setLabel(members, .people)
    more = dom.button("ma-button ma-wide", in: people)
    dom.setFlag(more, "hidden", true)
    banned = dom.element("div", "ma-members", in: people)
    filter.setHidden(true)
    dom.on(more, .click) { [self] _ in
      guard let room, let state = app.client.room(room) else { return }
      shownCount += Self.pageMembers
      if isSearching { show(state) } else { addPage(Self.pageMembers, state) }
      dom.flush()
    }
    filter.onInput = { [self] in showFound() }
    crowd.onChange = { [self] in showMoreFound() }
    dom.on(invite, .click) { [self] _ in if let room { app.openInvite(to: room) } }
  }

  func clear() {
    removeLines()
    left = []
    shownCount = Self.pageMembers
    dom.setFlag(more, "hidden", true)
    filter.set("")
    crowd.forget()
  }

  /// They are somebody else by now.
  func changed(_ users: [UserID]) { if !users.isEmpty { crowd.changed(users) } }

  private func removeLines() { for part in [knocking, members, banned] { dom.releaseChildren(of: part) } }

  func showLoading() { dom.element("p", "ma-note", text: .loadingMembers, in: members) }

  func update(_ state: Room) {
    room = state.id
    showTitle(state)
    dom.setFlag(invite, "hidden", !app.may(.invite, in: state.id))
  }

  private func showTitle(_ state: Room) {
    title.set(Strings[.members, count: state.joinedMemberCount])
    let count = state.memberIDs.count { isHere($0) }
    here.set(count == 0 ? "" : Strings[.hereNow, count: count])
  }

  func show(_ state: Room) {
    showTitle(state)
    removeLines()
    shownFound = isSearching ? found(state) : []
    left = (isSearching ? shownFound : sorted(state))[...]
    filter.setHidden(!isSearching && left.count < Self.filterFrom)
    addPage(shownCount, state)
    let (app, room) = (app, state.id)
    showOutside(state.knockingMembers, Strings[.askedToJoin], state, in: knocking) { user, line in
      if app.may(.invite, in: room) {
        act(.letIn, state.displayName(of: user), .people(.invite(room, user: user.text)), in: line)
      }
      if app.may(.kick(user), in: room) {
        act(.decline, state.displayName(of: user), .people(.kick(room, user, reason: nil)), in: line)
      }
    }
    showOutside(state.bannedMembers, Strings[.bannedMembers], state, in: banned) { user, line in
      if app.may(.unban(user), in: room) { act(.unban, state.displayName(of: user), .people(.unban(room, user)), in: line) }
    }
  }

  private var isSearching: Bool { !filter.text.trimmed.utf8.isEmpty }

  private func showFound() {
    if let room, let state = app.client.room(room) { show(state) }
    dom.flush()
  }

  /// More members are known by now; they may be others than those who stand there.
  private func showMoreFound() {
    guard isSearching, let room, let state = app.client.room(room), found(state) != shownFound else { return }
    showFound()
  }

  /// One more than are shown, so that it is known whether there are more.
  private func found(_ state: Room) -> [UserID] {
    crowd.gather(state)
    crowd.finder.foundLimit = shownCount + 1
    crowd.finder.type(ByteString(filter.text.trimmed))
    return crowd.finder.found.filter { state.membership(of: $0.userID) != nil }.map { $0.userID }
  }

  private func addPage(_ count: Int, _ state: Room) {
    for user in left.prefix(count) { add(user, state) }
    left = left.dropFirst(count)
    let rest = isSearching ? "" : " · " + Strings[.moreMembers, count: left.count]
    dom.setText(more, Strings[.moreResults] + rest)
    dom.setFlag(more, "hidden", left.isEmpty)
  }

  /// Those who may most first.
  private func sorted(_ state: Room) -> [UserID] {
    let all = state.members.map { $0.userID }
    guard let levels = state.powerLevels else { return all }
    let parts: [RoomRole] = [.creator, .administrator, .moderator, .user]
    var byRole = [[UserID]](repeating: [], count: parts.count)
    for user in all { byRole[parts.firstIndex(of: levels.role(of: user)) ?? 3].append(user) }
    return byRole[0] + byRole[1] + byRole[2] + byRole[3]
  }

  private func add(_ user: UserID, _ state: Room) {
    let item = dom.element("div", in: members)
    dom.setAttribute(item, "role", "listitem")
    let presence = app.client.presence(of: user).map { Strings.words(for: $0) }
    let button = line(user, state, detail: presence, "button", in: item)
    dom.setAttribute(button, "type", "button")
    if state.membership(of: user) == .invite {
      dom.element("span", "ma-remark", text: .isInvited, in: button)
    } else if user == app.userID {
      dom.element("span", "ma-remark", text: .isYou, in: button)
    }
    if let role = state.powerLevels?.role(of: user), role != .user {
      dom.element("span", "ma-remark", text: Strings.words(for: role), in: button)
    }
    let (app, room) = (app, state.id)
    dom.on(button, .click) { _ in app.dialogs.open(as: .popover) { MemberDialog(app, user, in: room, at: $0) } }
  }

  /// Whether a member is online. A sync resumed after a reload does not report the user's own presence.
  private func isHere(_ user: UserID) -> Bool { app.client.presence(of: user)?.isHere ?? (user == app.userID) }

  private func line(_ user: UserID, _ state: Room, detail: String?, _ tag: String, in parent: Node) -> Node {
    let name = state.displayName(of: user).string
    let line = dom.element(tag, tag.hasSameBytes(as: "button") ? "ma-member" : "ma-listed ma-outsider", in: parent)
    let title = dom.fill(line, id: user.string, name, detail, source: app.avatarSource(state.avatar(of: user)))
    if isHere(user) { dom.setClass(title, "ma-entry-name ma-is-here") }
    return line
  }

  // MARK: Those outside

  private func showOutside(
    _ outside: [Member], _ title: String, _ state: Room, in part: Node, _ addActions: (UserID, Node) -> Void
  ) {
    guard !outside.isEmpty else { return }
    dom.element("h4", "ma-field-label", text: title, in: part)
    for member in outside {
      let user = member.userID
      addActions(user, line(user, state, detail: member.reason?.string, "div", in: part))
    }
  }

  private func act(_ words: Strings.Key, _ name: ByteString, _ command: Command, in line: Node) {
    let button = dom.button("ma-button ma-small", words, in: line)
    dom.setLabel(button, Strings[words] + ": " + name.string)
    dom.on(button, .click) { [app] _ in app.askOrSay(command) }
  }
}

extension Strings {
  /// Whether somebody is there, and what they say of it.
  static func words(for presence: UserPresence) -> String {
    let seen = presence.lastActiveAtMilliseconds.map { self[.lastSeen, Host.shortLabel($0)] } ?? self[.isAway]
    let state = presence.isHere ? self[.isHere] : seen
    return presence.message.map { state + " · " + $0.string } ?? state
  }

  static func words(for role: RoomRole) -> String {
    switch role {
    case .muted: self[.roleMuted]
    case .user: self[.roleMember]
    case .moderator: self[.roleModerator]
    case .administrator: self[.roleAdministrator]
    case .creator: self[.roleCreator]
    }
  }
}

extension UserPresence {
  var isHere: Bool { isCurrentlyActive || presence == .online }
}
