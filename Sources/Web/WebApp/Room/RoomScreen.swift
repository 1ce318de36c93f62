import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// The open room: header, messages, composer and side panels. If the user is not in the room, it offers the ways in.
final class RoomScreen<D: DOM> {
  let app: App<D>
  let dom: D
  let root: Node
  let header: RoomHeader<D>
  let conversation: Conversation<D>
  let panel: SidePanel<D>
  private let stage: Node
  private let welcome: WelcomePane<D>
  private let beginning: RoomBeginning<D>
  private let notice: RoomNotice<D>
  private let changedKeys: ChangedKeysBar<D>
  private let chat: ChatState<D>
  private let space: SpaceHome<D>
  private(set) var room: RoomID?
  /// The open room is one that the user is outside of, as far as it is known.
  private var isOutside = false
  /// They have come in: what was said last is what they have come for.
  private var hasEntered = false
  /// What the server tells of the room to people outside, and the room it was asked about.
  private var summary: RoomSummary?
  private var askedRoom: RoomID?
  /// The wait for the frame at which what changed is shown.
  private var pause: HostTask?

  /// - Parameter top: has the header, above a call that stands between it and the messages.
  init(_ app: App<D>, header top: Node, in parent: Node) {
    self.app = app
    dom = app.dom
    root = dom.element("div", "ma-room", in: parent)
    welcome = WelcomePane(app, in: root)
    stage = dom.element("div", "ma-stage", in: root)
    header = RoomHeader(app, in: top)
    let columns = dom.element("div", "ma-columns", in: stage)
    let column = dom.element("div", "ma-column", in: columns)
    conversation = Conversation(app, in: column)
    beginning = RoomBeginning(app, in: column, before: conversation.feed.box)
    notice = RoomNotice(app, in: column)
    changedKeys = ChangedKeysBar(dom, in: column, before: conversation.writer.box)
    chat = ChatState(app, in: column, before: conversation.writer.box)
    panel = SidePanel(app, in: columns)
    space = SpaceHome(app, in: root)
    setShown(false)
    chat.onLearned = { [self] in showRoom() }
    beginning.onHello = { [self] in conversation.writer.composer.focus() }
    header.onSearch = { [self] in panel.show(.search) }
    header.onPins = { [self] in panel.show(.pinned) }
    header.onMenu = { [self] in ConversationMenu(self).open() }
    changedKeys.onVerify = { [app] shown in UserID(shown.user).map { app.verifications.verify($0, name: shown.name) } }
    changedKeys.onAccept = { [app] shown in
      app.effects.encryption.perform(.acceptIdentity(of: ByteString(shown.user))) { _ in }
    }
    conversation.onGoTo = { [self] in go(to: $0) }
    conversation.onThread = { [self] in panel.show(.thread($0)) }
    conversation.onSearch = { [self] in panel.search(for: $0) }
    conversation.onDay = { [self] in
      jump(to: $0) { error in if let error { app.notices.show(Strings.words(for: error), isTrouble: true) } }
    }
    conversation.onLatest = { [self] in showLatest() }
    conversation.feed.onFirstUnread = { [self] in _ = goToFirstUnread() }
    conversation.feed.onFailed = { [self] in if conversation.feed.key?.focus != .live { showLatest() } }
    panel.onThreadSeen = { [self] in read($0) }
    panel.onGoTo = { [self] in go(to: $0) }
  }

  @inline(never)
  func close() {
    pause?.cancel()
    panel.close()
    conversation.close()
  }

  @inline(never)
  func savePlace() { conversation.feed.savePlace() }

  // MARK: Which room

  @inline(never)
  func show(_ id: RoomID?) {
    guard id != room else { return }
    panel.show(nil)
    room = id
    panel.room = id
    summary = nil
    askedRoom = nil
    (isOutside, hasEntered) = (false, false)
    welcome.setHidden(id != nil)
    if id == nil { welcome.update() }
    let home = id.flatMap { isSpaceHome($0) ? $0 : nil }
    setShown(id != nil && home == nil)
    conversation.show(home == nil ? id.map { .live($0) } : nil)
    space.show(home)
    app.effects.blobs.forgetShown()
    guard id != nil, home == nil else { return }
    showRoom()
    // On a phone the field would bring up the keyboard before anything was read.
    dom.focus(header.title)
  }

  private func setShown(_ isShown: Bool) {
    dom.setFlag(stage, "hidden", !isShown)
    header.setShown(isShown)
  }

  /// A space one is in opens its home instead of messages.
  private func isSpaceHome(_ id: RoomID) -> Bool {
    guard let room = app.client.room(id) else { return false }
    return room.isSpace && room.membership == .join
  }

  /// Header, notice and composer as the room is now.
  private func showRoom() {
    guard let id = room else { return }
    if isSpaceHome(id) {
      setShown(false)
      return space.show(id)
    }
    let state = app.client.room(id)
    if state == nil { learnSummary(of: id) } else { summary = nil }
    if isOutside, state?.membership == .join { hasEntered = true }
    isOutside = state.map { $0.membership != .join } ?? false
    if let summary { header.update(summary) } else { header.update(id, state) }
    notice.update(id, state, summary)
    conversation.writer.setCanWrite(state.map { app.canWrite(in: $0) } ?? false)
    identitiesChanged()
    panel.roomChanged()
    chat.update(state)
    beginning.update(state, isUnreadable: chat.isUnreadable)
    if state?.membership == .invite || (state == nil && app.client.connectionIsRunning) { conversation.feed.veil.hide() }
  }

  /// The first member whose keys have changed and are not accepted.
  @inline(never)
  func identitiesChanged() {
    var shown: ChangedKeysBar<D>.Shown?
    if let room = room.flatMap({ app.client.room($0) }), room.isEncrypted, app.canWrite(in: room) {
      for changed in app.effects.encryption.state?.changed ?? [] where shown == nil {
        guard let user = UserID(changed.user), room.membership(of: user) == .join else { continue }
        shown = .init(user: user.string, name: room.displayName(of: user).string, wasVerified: changed.wasVerified)
      }
    }
    changedKeys.show(shown)
    conversation.feed.keysChanged()
  }

  /// Asks once what the server tells of a room that the user is not in. If it does not tell, the room stays without a name.
  private func learnSummary(of id: RoomID) {
    guard app.client.connectionIsRunning, askedRoom != id else { return }
    askedRoom = id
    app.ask(.roomSummary(id.text, via: app.servers(of: id))) { [self] result in
      guard case .success(let found) = result, room == id, app.client.room(id) == nil else { return }
      summary = found
      showRoom()
      dom.flush()
    }
  }

  // MARK: Places in it

  /// To a message: where it is among those at hand, else around it.
  @inline(never)
  func go(to event: EventID) {
    guard let room, !conversation.feed.goTo(event) else { return }
    conversation.show(TimelineKey(room, .event(event)), at: event)
  }

  @inline(never)
  func showLatest() {
    guard let room else { return }
    if conversation.feed.key?.focus == .live {
      conversation.feed.timeline.scrollToEnd()
    } else {
      SavedPlace.forget(room)
      conversation.show(.live(room))
    }
  }

  /// False where everything has been read. One may have stopped reading long before what is at hand.
  func goToFirstUnread() -> Bool {
    let feed = conversation.feed
    guard let state = feed.room, let source = feed.source else { return false }
    if let first = feed.firstUnread(state, source) {
      feed.timeline.setDivider(above: first)
      return feed.timeline.scroll(to: first, place: .top)
    }
    guard let read = feed.openedAt, source.index(of: read) == nil else { return false }
    go(to: read)
    return true
  }

  @inline(never)
  func jump(to milliseconds: Int64, _ then: @escaping (ClientError?) -> Void) {
    guard let room else { return }
    app.ask(.timeline(.jumpToDate(room, milliseconds))) { [self] result in
      switch result {
      case .timeline(let key):
        guard case .event(let event) = key.focus, key.room == self.room else { return }
        then(nil)
        if !conversation.feed.goTo(event) { conversation.show(key, at: event) }
      case .failed(let error): then(error)
      default: break
      }
    }
  }

  /// The end of a thread is in view. Who sees that of the room too has read all there is.
  private func read(_ thread: EventID) {
    guard let room, Host.pageState.isSuperset(of: [.visible, .focused]), let state = app.client.room(room),
      state.notificationCount > 0
    else { return }
    if conversation.feed.key?.focus == .live, conversation.feed.timeline.isAtEnd {
      return app.askOrSay(.reading(.markRead(room)))
    }
    guard state.unreadCounts.threads[thread] != nil, let last = panel.conversation?.feed.source?.items.last?.eventID else {
      return
    }
    app.ask(.sendReceipt(upTo: last, in: room, isPublic: !app.keepsReceiptsPrivate, threadRoot: thread)) { _ in }
  }

  // MARK: Changes

  @inline(never)
  func roomsChanged() { if room != nil { showRoom() } else { welcome.update() } }

  @inline(never)
  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    guard id == room else { return }
    if !aspects.isDisjoint(with: [.name, .avatar, .topic, .membership, .memberCounts, .settings]) { showRoom() }
    if aspects.contains(.draft) {
      conversation.writer.draftChanged()
      panel.conversation?.writer.draftChanged()
    }
    if aspects.contains(.typing) { conversation.feed.showTyping() }
    for feed in feeds {
      if aspects.contains(.unread) { feed.unreadChanged() }
      if aspects.contains(.settings) { feed.rolesChanged() }
      if !aspects.isDisjoint(with: [.memberCounts, .membership]) { feed.needsCounts = true }
      if !aspects.isDisjoint(with: [.pagination, .membership]) { feed.paginationChanged() }
    }
  }

  /// All rows are made anew: something is shown in another way from now on.
  @inline(never)
  func renewRows() {
    for feed in feeds { feed.renewRows() }
    app.dom.flush()
  }

  /// The page around draws messages of one more kind.
  @inline(never)
  func register(_ kind: String, _ renderer: ContentRenderer) {
    for feed in feeds { feed.timeline.register(content: kind, renderer) }
    renewRows()
  }

  var feeds: [Feed<D>] { [conversation.feed] + (panel.conversation.map { [$0.feed] } ?? []) }

  @inline(never)
  func changed(_ key: TimelineKey, _ changes: [TimelineChange]) {
    for feed in feeds where feed.key == key { feed.changed(changes) }
  }

  @inline(never)
  func membersChanged(_ id: RoomID, _ users: [UserID]) {
    guard id == room else { return }
    for feed in feeds { feed.membersChanged(users) }
    conversation.writer.membersChanged(users)
    panel.search?.membersChanged(users)
    showRoom()
  }

  @inline(never)
  func readCountsChanged(_ id: RoomID) { if id == room { conversation.feed.needsCounts = true } }

  /// Everything that has changed goes into the messenger as one step at the next frame: each step makes the browser lay the page out.
  @inline(never)
  func settle() {
    let isNew = feeds.contains { $0.needsRows }
    guard Host.hasFrames, !isNew else { return settleNow() }
    guard pause == nil else { return }
    pause = Host.atNextFrame { [self] in
      settleNow()
      dom.flush()
    }
  }

  private func settleNow() {
    pause?.cancel()
    pause = nil
    for feed in feeds { feed.settle() }
    if hasEntered, conversation.feed.isLive {
      hasEntered = false
      conversation.feed.timeline.scrollToEnd()
    }
    beginning.update(room.flatMap { app.client.room($0) }, isUnreadable: chat.isUnreadable)
  }
}

extension Client {
  var connectionIsRunning: Bool {
    if case .running = connection { return true }
    return false
  }

  /// Whether it is known that the user is in no room and invited to none.
  var isEmpty: Bool { connectionIsRunning && roomIDs.isEmpty }
}
