import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// Who is in a room, with their roles; who asks to be let in, and who was banned. A room may have many thousands: they are sorted and drawn
/// a piece at a time, and what stands there stays until its turn comes.
final class MemberList<D: DOM> {
  /// Members listed at once; more come as one asks for them.
  private static var pageMembers: Int { 200 }
  /// Fewer than this need no search field.
  private static var filterFrom: Int { 8 }
  /// Members sorted, and lines drawn, before the page does something else.
  private static var sortedAtOnce: Int { 500 }
  private static var drawnAtOnce: Int { 25 }

  /// What a line says.
  private struct Line: Equatable {
    let user: UserID
    let name: String
    let picture: String?
    let presence: String?
    let isHere: Bool
    let isVerified: Bool
    let remarks: [String]
  }

  private let app: App<D>
  private let dom: D
  private var title: TextView<D>
  private var here: TextView<D>
  private let invite: Node
  private let filter: Field<D>
  private let knocking: Node
  private let members: Node
  private let loading: Node
  private let more: Node
  private let banned: Node
  /// Finds them by a few letters.
  private let crowd: Crowd<D>
  /// Is being made; nil once it is `sorted`.
  private var order: MemberOrder?
  private var sorted: [UserID] = []
  private var shownFound: [UserID] = []
  private var lines: [(line: Line, node: Node)] = []
  /// The next line to be drawn.
  private var next = 0
  private var task: HostTask?
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
    loading = dom.element("p", "ma-note", text: .loadingMembers, in: people)
    dom.setFlag(loading, "hidden", true)
    members = dom.element("div", "ma-members", in: people)
    dom.setAttribute(members, "role", "list")
    dom.setLabel(members, .people)
    more = dom.button("ma-button ma-wide", in: people)
    dom.setFlag(more, "hidden", true)
    banned = dom.element("div", "ma-members", in: people)
    filter.setHidden(true)
    dom.on(more, .click) { [self] _ in
      shownCount += Self.pageMembers
      showFound()
    }
    filter.onInput = { [self] in showFound() }
    crowd.onChange = { [self] in if isSearching { showFound() } }
    dom.on(invite, .click) { [self] _ in if let room { app.openInvite(to: room) } }
  }

  func clear() {
    task?.cancel()
    task = nil
    order = nil
    sorted = []
    shownFound = []
    lines = []
    for part in [knocking, members, banned] { dom.releaseChildren(of: part) }
    shownCount = Self.pageMembers
    dom.setFlag(loading, "hidden", true)
    dom.setFlag(more, "hidden", true)
    filter.set("")
    crowd.forget()
  }

  /// They are somebody else by now.
  func changed(_ users: [UserID]) { if !users.isEmpty { crowd.changed(users) } }

  func showLoading() { dom.setFlag(loading, "hidden", false) }

  func update(_ state: Room) {
    room = state.id
    showTitle(state)
    dom.setFlag(invite, "hidden", !app.may(.invite, in: state.id))
  }

  private func showTitle(_ state: Room) {
    title.set(Strings[.members, count: state.joinedMemberCount])
    var count = app.client.members(of: state.id) { $0.isHere }.count
    if let user = app.userID, app.client.presence(of: user) == nil, state.membership(of: user) == .join { count += 1 }
    here.set(count == 0 ? "" : Strings[.hereNow, count: count])
  }

  /// Others are there, or they may something else.
  func show(_ state: Room) {
    showTitle(state)
    order = MemberOrder(of: state)
    goOn()
    trustChanged()
  }

  /// Others may be verified by now.
  func trustChanged() {
    app.verifications.learn { [self] in
      if order == nil { draw() }
      dom.flush()
    }
  }

  /// The same people, who may be there or have gone.
  func showPresence(_ state: Room) {
    showTitle(state)
    if order == nil { draw() }
  }

  private var isSearching: Bool { !filter.text.trimmed.utf8.isEmpty }

  private func showFound() {
    guard let room, let state = app.client.room(room) else { return }
    defer { dom.flush() }
    if isSearching {
      crowd.gather(state)
      crowd.look(for: ByteString(filter.text.trimmed), limit: shownCount + 1)
      let found = crowd.finder.found.map { $0.userID }.filter { state.membership(of: $0) != nil }
      // Somebody may be found in a moment.
      if found.isEmpty, !crowd.finder.hasLookedAtAll { return }
      if found == shownFound, next == lines.count, lines.count == min(found.count, shownCount) { return }
      shownFound = found
    }
    if order == nil { draw() }
  }

  // MARK: Piece by piece

  /// Runs again in a moment as long as something is left.
  private func goOn() {
    task?.cancel()
    task = nil
    guard let room, let state = app.client.room(room) else { return }
    repeat {
      if let order { sort(order, state) } else { drawLines(state) }
    } while !Host.hasFrames && isBusy
    guard isBusy else { return }
    let next = { [self] in
      goOn()
      dom.flush()
    }
    task = order == nil ? Host.atNextFrame(next) : Host.after(milliseconds: 0, next)
  }

  private var isBusy: Bool { order != nil || next < wanted.count }

  private var wanted: ArraySlice<UserID> { (isSearching ? shownFound : sorted).prefix(shownCount) }

  private func sort(_ unfinished: MemberOrder, _ state: Room) {
    var order = unfinished
    self.order = nil
    order.goOn(Self.sortedAtOnce)
    guard order.isDone else { return self.order = order }
    sorted = order.members
    dom.setFlag(loading, "hidden", true)
    filter.setHidden(!isSearching && sorted.count < Self.filterFrom)
    showOutside(order, state)
    next = 0
    drawLines(state)
  }

  private func draw() {
    next = 0
    goOn()
  }

  /// Those of the next lines that say something else by now.
  private func drawLines(_ state: Room) {
    let wanted = wanted
    var drawn = 0
    while next < wanted.count, drawn < Self.drawnAtOnce {
      let new = line(of: wanted[wanted.startIndex + next], state)
      if next == lines.count {
        let item = dom.element("div", in: members)
        dom.setAttribute(item, "role", "listitem")
        fill(item, new, state)
        lines.append((new, item))
        drawn += 1
      } else if lines[next].line != new {
        dom.releaseChildren(of: lines[next].node)
        fill(lines[next].node, new, state)
        lines[next].line = new
        drawn += 1
      }
      next += 1
    }
    while lines.count > wanted.count { if let last = lines.popLast() { dom.release(last.node) } }
    let left = isSearching ? shownFound.count - wanted.count : sorted.count - wanted.count
    let rest = isSearching ? "" : " · " + Strings[.moreMembers, count: left]
    dom.setText(more, Strings[.moreResults] + rest)
    dom.setFlag(more, "hidden", left == 0 || next < wanted.count)
  }

  private func line(of user: UserID, _ state: Room) -> Line {
    var remarks: [String] = []
    if state.membership(of: user) == .invite {
      remarks.append(Strings[.isInvited])
    } else if user == app.userID {
      remarks.append(Strings[.isYou])
    }
    if let role = state.powerLevels?.role(of: user), role != .user { remarks.append(Strings.words(for: role)) }
    let presence = app.client.presence(of: user).map { Strings.words(for: $0) }
    return Line(
      user: user, name: state.displayName(of: user).string, picture: app.avatarSource(state.avatar(of: user)),
      presence: presence, isHere: isHere(user), isVerified: app.verifications.verified.contains(user), remarks: remarks)
  }

  private func fill(_ item: Node, _ line: Line, _ state: Room) {
    let button = dom.element("button", "ma-member", in: item)
    dom.setAttribute(button, "type", "button")
    let title = dom.fill(button, id: line.user.string, line.name, line.presence, source: line.picture)
    if line.isHere { dom.setClass(title, "ma-entry-name ma-is-here") }
    if line.isVerified { TrustMark(dom, isVerified: true, in: button) }
    for remark in line.remarks { dom.element("span", "ma-remark", text: remark, in: button) }
    let (app, room) = (app, state.id)
    dom.on(button, .click) { _ in app.dialogs.open(as: .popover) { MemberDialog(app, line.user, in: room, at: $0) } }
  }

  /// Whether a member is online. A sync resumed after a reload does not report the user's own presence.
  private func isHere(_ user: UserID) -> Bool { app.client.presence(of: user)?.isHere ?? (user == app.userID) }

  // MARK: Those outside

  private func showOutside(_ order: MemberOrder, _ state: Room) {
    let (app, room) = (app, state.id)
    showOutside(order.knocking, Strings[.askedToJoin], state, in: knocking) { user, line in
      if app.may(.invite, in: room) {
        act(.letIn, state.displayName(of: user), .people(.invite(room, user: user.text)), in: line)
      }
      if app.may(.kick(user), in: room) {
        act(.decline, state.displayName(of: user), .people(.kick(room, user, reason: nil)), in: line)
      }
    }
    showOutside(order.banned, Strings[.bannedMembers], state, in: banned) { user, line in
      if app.may(.unban(user), in: room) { act(.unban, state.displayName(of: user), .people(.unban(room, user)), in: line) }
    }
  }

  private func showOutside(
    _ outside: [Member], _ title: String, _ state: Room, in part: Node, _ addActions: (UserID, Node) -> Void
  ) {
    dom.releaseChildren(of: part)
    guard !outside.isEmpty else { return }
    dom.element("h4", "ma-field-label", text: title, in: part)
    for member in outside {
      let user = member.userID
      let line = dom.element("div", "ma-listed ma-outsider", in: part)
      let (name, picture) = (state.displayName(of: user).string, app.avatarSource(state.avatar(of: user)))
      let title = dom.fill(line, id: user.string, name, member.reason?.string, source: picture)
      if isHere(user) { dom.setClass(title, "ma-entry-name ma-is-here") }
      addActions(user, line)
    }
  }

  private func act(_ words: Strings.Key, _ name: ByteString, _ command: Command, in line: Node) {
    let button = dom.button("ma-button ma-small", words, in: line)
    dom.setLabel(button, Strings[words, of: name.string])
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
}

extension UserPresence {
  var isHere: Bool { isCurrentlyActive || presence == .online }
}
