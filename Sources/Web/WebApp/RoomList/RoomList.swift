import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// The conversations in sections: invitations, favourites, people, rooms, what is of low priority.
final class RoomList<D: DOM> {
  /// Fewer rooms than this need no choice of them.
  private static var filterFrom: Int { 8 }
  private static var list: RoomListID { 1 }
  /// Rooms that a section shows at first, and more of with each page: more than are in view.
  private static var pageRooms: Int { 60 }
  /// As near to its end a section shows its next page.
  private static var nearPixels: Double { 600 }
  /// So far down a room that is gone to is looked for.
  private static var soughtRooms: Int { 600 }

  private let app: App<D>
  private let dom: D
  private let node: Node
  /// In the header if there is no rail, else in the rail.
  private let avatars: [AvatarView<D>]
  /// The user's presence as others see it, at each avatar.
  private let presences: [Node]
  private let profile: Node
  private let title: Node
  /// On a phone: to the home of the space whose rooms are listed.
  private let toSpace: Node
  private let rail: Rail<D>
  private let filter: RoomListFilterBar<D>
  private let search: ListSearch<D>
  private let recovery: RecoveryCard<D>
  private let scroller: Node
  /// The sections stand in it.
  private let shelves: Node
  /// nil until a space was chosen.
  private var toJoin: RoomsToJoin<D>?
  private let empty: EmptyList<D>
  private var sections: [RoomSection<D>] = []
  private var entries: [RoomID: RoomListEntry<D>] = [:]
  private var selected: RoomID?
  /// Where the Tab key comes to.
  private var current: RoomID?
  private var needsCounts = true

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("nav", "ma-list", in: parent)
    dom.setLabel(node, .conversations)
    dom.markPart(node)
    rail = Rail(app, in: node)
    let column = dom.element("div", "ma-list-column", in: node)
    let header = dom.element("header", "ma-header", in: column)
    profile = dom.button("ma-round ma-me", label: Strings[.profile], in: header)
    avatars = [profile, rail.profile].map { [dom] in dom.avatar("ma-avatar-small", in: $0) }
    presences = [profile, rail.profile].map { [dom] in dom.element("span", "ma-presence", in: $0) }
    title = dom.element("h1", "ma-list-title", text: .conversations, in: header)
    toSpace = dom.button("ma-round ma-narrow-only", icon: .info, label: .aboutSpace, in: header)
    let new = dom.button("ma-round ma-new", icon: .plus, label: .newConversation, in: header)
    filter = RoomListFilterBar(app, in: column)
    search = ListSearch(app, filter, in: column)
    recovery = RecoveryCard(dom, in: column)
    scroller = dom.element("div", "ma-rooms", in: column)
    shelves = dom.element("div", in: scroller)
    empty = EmptyList(app, in: column)
    for profile in [profile, rail.profile] {
      dom.on(profile, .click) { _ in app.dialogs.open(.more, as: .menu) { AccountMenu(app, in: $0) } }
    }
    dom.on(new, .click) { _ in app.dialogs.open(.more) { NewDialog(app, in: $0) } }
    recovery.onMake = { over in app.makeRecoveryKey { _ in over() } }
    recovery.onPutOff = { app.putOffRecovery() }
    filter.onChange = { [self] in open() }
    search.onShow = { [self] in showClass() }
    rail.onChoose = { [self] in chose($0) }
    dom.setFlag(toSpace, "hidden", true)
    dom.on(toSpace, .click) { [self] _ in if let space = rail.view.space { app.goTo(.room(space)) } }
    // What drawing a line aside will do stands below it, which is the style sheet's.
    dom.setStyle(scroller, "--ma-read", "\"" + Strings[.markRead] + "\"")
    dom.setStyle(scroller, "--ma-unread", "\"" + Strings[.markUnread] + "\"")
    dom.on(scroller, .aside) { [self] in drawn($0.node) }
    dom.on(scroller, .scroll) { [self] in scrolled(to: $0.x, height: $0.y) }
    dom.listen(scroller, .keyDown) { [self] in pressed($0) }
    open()
  }

  private func open() {
    var query = filter.query(in: rail.view)
    query.pageSize = RoomList.pageRooms
    app.ask(.roomList(.open(RoomList.list, query)))
  }

  /// To the box to search in.
  func takeSearchFocus() { search.takeFocus() }

  private func showClass() {
    let rail = rail.isHidden ? "" : " ma-with-rail"
    dom.setClass(node, "ma-list" + rail + (search.isShown ? " ma-searching" : ""))
  }

  func showProfile() {
    guard let user = app.userID else { return }
    for avatar in avatars {
      avatar.show(
        id: user.string, name: app.client.ownDisplayName?.string ?? user.string, source: app.avatarSource(app.client.ownAvatar))
    }
    let sign = app.snoozedUntil == nil ? OwnPresence.kept.signClass : "ma-presence ma-quiet"
    for presence in presences { dom.setClass(presence, sign) }
  }

  func select(_ room: RoomID?) {
    if let selected { entries[selected]?.setSelected(false) }
    selected = room
    guard let room else { return }
    if entries[room] == nil { showPage(of: room) }
    entries[room]?.setSelected(true)
    if entries[room] != nil { setCurrent(room) }
  }

  func update(_ id: RoomID) {
    if let room = app.client.room(id) { entries[id]?.update(room) }
    needsCounts = true
  }

  /// Called when the first sync is over, also where it brought no room.
  func connectionChanged() {
    showEmptiness()
    search.connectionChanged()
  }

  func encryptionChanged() { recovery.setShown(app.asksForRecovery) }

  func spaceCountsChanged(_ spaces: [RoomID]) { rail.countsChanged(spaces) }

  /// Spaces came, went, or have other names.
  func spacesChanged() {
    let view = rail.view
    rail.update()
    dom.setFlag(profile, "hidden", !rail.isHidden)
    showClass()
    if rail.view != view { open() }
    showToJoin()
    showTitle()
  }

  private func showToJoin() {
    let space = rail.view.space
    guard space != nil || toJoin != nil else { return }
    app.need(.room, isQuiet: true) { [self] in
      let part = toJoin ?? RoomsToJoin(app, in: scroller)
      toJoin = part
      part.onChange = { [self] in showEmptiness() }
      part.show(rail.view.space)
    }
  }

  /// A space opens beside the list where there is room for both.
  private func chose(_ view: ListView) {
    showTitle()
    open()
    showToJoin()
    if let space = view.space, !Host.pageState.contains(.narrow) { app.goTo(.room(space)) }
  }

  private func showTitle() {
    dom.setFlag(toSpace, "hidden", rail.view.space == nil)
    switch rail.view {
    case .everything: dom.setText(title, .conversations)
    case .people: dom.setText(title, .direct)
    case .space(let id): if let room = app.client.room(id) { dom.setText(title, Strings.words(for: room.name)) }
    }
  }

  func presenceChanged(_ users: [UserID]) {
    for entry in entries.values { entry.presenceChanged(users) }
  }

  /// Rooms say whether they are muted.
  func pushRulesChanged() {
    for id in entries.keys { update(id) }
  }

  /// All changes of one step are in.
  func settle() {
    guard needsCounts else { return }
    needsCounts = false
    toJoin?.update()
    for section in sections {
      section.setHasMore(app.client.roomList(RoomList.list)?.count(of: section.kind) ?? 0 > section.rooms.count)
      guard section.isFolded else { continue }
      section.showCount(all(in: section).reduce(0) { $0 &+ (app.client.room($1)?.notificationCount ?? 0) })
    }
  }

  /// A line was drawn aside: what can be done with a room that one is not in is in its menu.
  private func drawn(_ node: Node) {
    let visible = visible
    guard let at = index(of: node, in: visible), let room = app.client.room(visible[at]) else { return }
    let id = room.id
    if room.membership != .join {
      app.dialogs.open(.more, as: .menu) { [app] in RoomMenu(app, id, in: $0) }
    } else if room.isUnread {
      app.markAsRead(room)
    } else {
      app.askOrSay(.reading(.markUnread(id, true)))
    }
  }

  // MARK: Following the client's list

  func changed(_ id: RoomListID, _ changes: [RoomListChange]) {
    guard id == RoomList.list else { return }
    for change in changes { apply(change) }
    if current == nil { keepReachable() }
    needsCounts = true
    let rooms = app.client.roomIDs
    filter.setChoiceHidden(
      rooms.count < RoomList.filterFrom && !app.client.hasLeftRooms && !filter.isActive
        && !rooms.contains { app.client.room($0)?.isHidden ?? false })
    showEmptiness()
  }

  private func apply(_ change: RoomListChange) {
    switch change {
    case .inserted(let id, let place): insert(id, place)
    case .removed(let id, let place):
      section(place)?.remove(id, at: place.index)
      drop(id)
    case .moved(let id, let from, let to):
      section(from)?.remove(id, at: from.index)
      insert(id, to)
    case .updated(let id, _): if let room = app.client.room(id) { entries[id]?.update(room) }
    case .reset(let rooms): reset(rooms)
    }
  }

  private func section(_ place: RoomListPlace) -> RoomSection<D>? { sections.first { $0.kind == place.section } }

  private func insert(_ id: RoomID, _ place: RoomListPlace) {
    guard let section = section(place), let entry = entry(id) else { return }
    let next = section.rooms.indices.contains(place.index) ? entries[section.rooms[place.index]] : nil
    section.insert(entry, at: place.index, before: next)
    if current == nil { setCurrent(id) }
  }

  private func entry(_ id: RoomID) -> RoomListEntry<D>? {
    if let known = entries[id] { return known }
    guard let room = app.client.room(id) else { return nil }
    let entry = RoomListEntry(app, room)
    entries[id] = entry
    entry.setSelected(id == selected)
    return entry
  }

  private func drop(_ id: RoomID) {
    if let entry = entries.removeValue(forKey: id) { dom.release(entry.node) }
    if current == id { current = nil }
  }

  private func reset(_ rooms: [[RoomID]]) {
    let kinds = filter.query(in: rail.view).sections
    if !sections.elementsEqual(kinds, by: { $0.kind == $1 }) { makeSections(kinds) }
    var kept: Set<RoomID> = []
    for id in rooms.joined() { kept.insert(id) }
    for id in Array(entries.keys) where !kept.contains(id) { drop(id) }
    for (section, ids) in zip(sections, rooms) {
      section.clear()
      for id in ids { if let entry = entry(id) { section.insert(entry, at: section.rooms.count, before: nil) } }
    }
  }

  // MARK: Pages

  /// Also those of pages that are not shown yet.
  private func all(in section: RoomSection<D>) -> [RoomID] {
    app.client.roomList(RoomList.list)?.allRooms(in: section.kind) ?? []
  }

  /// All of them, from the top.
  var rooms: [RoomID] { sections.flatMap { all(in: $0) } }

  /// Pages of its section until it is there.
  private func showPage(of room: RoomID) {
    guard let section = sections.first(where: { all(in: $0).contains(room) }) else { return }
    while entries[room] == nil, section.rooms.count < Self.soughtRooms, grow(section) {}
  }

  /// Whether there was another page.
  private func grow(_ section: RoomSection<D>) -> Bool {
    let count = section.rooms.count
    app.ask(.roomList(.grow(RoomList.list, section.kind)))
    return section.rooms.count > count
  }

  /// Where a person begins who comes back to the list.
  func takeFocus() { dom.focus(rail.isHidden ? profile : rail.profile) }

  /// The next page by the button, which may be gone then: its first room has the focus.
  private func turnPage(of section: RoomSection<D>) {
    let count = section.rooms.count
    guard grow(section), let entry = entries[section.rooms[count]] else { return }
    setCurrent(entry.id)
    dom.focus(entry.button)
  }

  /// Where the end of a section is about to be seen its next page comes.
  private func scrolled(to top: Double, height: Double) {
    guard sections.contains(where: { $0.hasMore }) else { return }
    var end = 0.0
    for section in sections {
      end += Double(dom.measure([section.node]).first ?? 0)
      if section.hasMore, !section.isFolded, end > top, end < top + height + Self.nearPixels { _ = grow(section) }
    }
  }

  private func makeSections(_ kinds: [RoomListSection]) {
    for id in Array(entries.keys) { drop(id) }
    for section in sections { section.release() }
    sections = kinds.map { RoomSection(dom, $0, in: shelves) }
    for section in sections {
      section.onMore = { [self] in turnPage(of: section) }
      section.onFold = { [self] in
        section.showCount(0)
        needsCounts = true
        settle()
        keepReachable()
      }
    }
  }

  private func showEmptiness() {
    let isEmpty = entries.isEmpty && toJoin?.isShown != true
    dom.setFlag(scroller, "hidden", isEmpty)
    empty.show(isEmpty ? (filter.isActive ? .noMatch : .noRooms) : .none)
  }

  // MARK: Keyboard

  private var visible: [RoomID] { sections.flatMap { $0.visibleRooms } }

  private func setCurrent(_ id: RoomID) {
    if let current { entries[current]?.setCurrent(false) }
    current = id
    entries[id]?.setCurrent(true)
  }

  /// Where Tab came to may be gone, or folded away.
  private func keepReachable() {
    let visible = visible
    if let current, visible.contains(current) { return }
    if let first = visible.first { setCurrent(first) }
  }

  /// Whose line that is.
  private func index(of line: Node, in rooms: [RoomID]) -> Int? { rooms.firstIndex { entries[$0]?.button == line } }

  private func pressed(_ event: PageEvent) -> EventReply {
    let visible = visible
    guard let at = index(of: event.node, in: visible), let next = event.place(from: at, of: visible.count),
      let entry = entries[visible[next]]
    else { return .pass }
    setCurrent(visible[next])
    dom.focus(entry.button)
    dom.flush()
    return .preventDefault
  }
}
