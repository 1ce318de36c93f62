import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The open room: header, messages, composer; for rooms one is not in, what can be done about that.
final class RoomScreen<D: DOM> {
  let app: App<D>
  let dom: D
  let root: Node
  let header: RoomHeader<D>
  let timeline: Messenger.Timeline<D>
  let composer: Composer<D>
  let rows: RowMaker<D>
  private let stage: Node
  private let welcome: Node
  private let veil: Veil<D>
  private let notice: RoomNotice<D>
  let menu: MessageMenu<D>

  private(set) var room: RoomID?
  /// The client's timeline as the rows show it: identity and unread members of each item.
  var items: [ItemID] = []
  var unread: [Int] = []
  var pending: [RowChange] = []
  var needsCounts = false
  private var needsRows = false
  /// A place to return to that is not in memory yet: pages are fetched until it is.
  private var seeking: SavedPlace?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    root = dom.element("main", "ma-room", in: parent)
    welcome = dom.element("div", "ma-empty ma-welcome", in: root)
    Drawing.logo.draw(dom, in: welcome)
    dom.element("h2", "ma-empty-title", text: Strings[.pickRoom], in: welcome)
    dom.element("p", "ma-note", text: Strings[.pickRoomNote], in: welcome)
    let new = dom.button("ma-button ma-primary", Strings[.newConversation], in: welcome)
    stage = dom.element("div", "ma-stage", in: root)
    header = RoomHeader(app, in: stage)
    var options = Host.timelineOptions()
    options.phrases = Strings.phrases
    timeline = Messenger.Timeline(dom: dom, options: options)
    let box = dom.element("div", "ma-timeline", in: stage)
    dom.append(timeline.root, to: box)
    veil = Veil(dom, in: box)
    notice = RoomNotice(app, in: stage)
    composer = Composer(dom: dom, phrases: options.phrases)
    composer.maximumLength = 10_000
    dom.append(composer.root, to: stage)
    composer.acceptDrops(on: stage)
    rows = RowMaker(app)
    menu = MessageMenu(app)
    dom.setFlag(stage, "hidden", true)
    dom.on(new, .click) { _ in app.dialogs.open { NewDialog(app, in: $0) } }
    veil.onSkip = { [self] in stopSeeking() }
    listen()
  }

  func close() {
    timeline.close()
    composer.close()
  }

  private func listen() {
    composer.onSend = { [self] text in send(text) }
    composer.onDraft = { [self] text in if let room { app.ask(.setDraft(room, ByteString(text))) } }
    composer.onAttach = { [self] in Host.pickFiles { self.send($0) } }
    composer.onFiles = { [self] in send($0) }
    timeline.onNearStart = { [self] in if let room { app.ask(.paginateBack(.live(room))) } }
    timeline.onGapVisible = { [self] in if let room { app.ask(.fillGap(.live(room), $0.rawValue)) } }
    timeline.onVisible = { [self] rows in viewed(rows) }
    timeline.onAction = { [self] in act($0) }
  }

  // MARK: Which room

  func show(_ id: RoomID?) {
    guard id != room else { return }
    if let old = room {
      savePlace()
      seeking = nil
      app.ask(.closeRoom(old))
    }
    room = id
    items = []
    unread = []
    pending = []
    needsRows = false
    rows.forgetSenders()
    dom.setFlag(welcome, "hidden", id != nil)
    dom.setFlag(stage, "hidden", id == nil)
    timeline.load([], head: .hidden)
    timeline.setTyping([])
    guard let id else { return }
    veil.show(.opening)
    app.ask(.openRoom(id))
    composer.setText(app.client.room(id)?.draft.string ?? "")
    showRoom()
    loadRows(isOpening: true)
    // On a phone the field would bring up the keyboard before anything was read.
    dom.focus(header.title)
  }

  /// Header, notice and composer as the room is now.
  private func showRoom() {
    guard let id = room else { return }
    let state = app.client.room(id)
    header.update(id, state)
    notice.update(id, state)
    let canWrite = state?.membership == .join && !(state?.isEncrypted ?? false) && state?.successor == nil
    dom.setFlag(composer.root, "hidden", !canWrite)
    composer.setEnabled(canWrite)
    if state?.membership == .invite || (state == nil && app.client.connectionIsRunning) { veil.hide() }
  }

  // MARK: Changes

  func roomsChanged() { if room != nil { showRoom() } }

  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    guard id == room else { return }
    if !aspects.isDisjoint(with: [.name, .avatar, .topic, .membership, .memberCounts, .settings, .typing]) { showRoom() }
    if aspects.contains(.typing) { showTyping() }
    if !aspects.isDisjoint(with: [.memberCounts, .membership]) { needsCounts = true }
    if !aspects.isDisjoint(with: [.pagination, .membership]) { paginationChanged() }
  }

  private func showTyping() {
    guard let id = room, let state = app.client.room(id) else { return }
    timeline.setTyping(state.typing.map { TypingMember(rows.sender($0, in: state)) })
  }

  func changed(_ id: RoomID, _ changes: [TimelineChange]) {
    guard id == room, let state = app.client.room(id) else { return }
    for change in changes {
      if case .reset = change { needsRows = true }
    }
    // What the client holds now has all changes of the step: rows loaded from it must not take them in once more.
    guard seeking == nil, !needsRows else { return }
    for change in changes { take(change, state) }
    needsCounts = true
  }

  func membersChanged(_ id: RoomID, _ users: [UserID]) {
    guard id == room, let state = app.client.room(id) else { return }
    rows.forget(users)
    guard seeking == nil, !needsRows else { return }
    let touched = Set(users)
    let all = state.timeline.items
    guard all.count == items.count else { return }
    for (index, item) in all.enumerated() where touched.contains(item.sender) || item.isState {
      pending.append(.update(rows.row(item, in: state, unread: unread[index])))
    }
    showRoom()
  }

  func readCountsChanged(_ id: RoomID) { if id == room { needsCounts = true } }

  /// Everything that this step changed goes into the messenger as one step.
  func settle() {
    if needsRows {
      needsRows = false
      needsCounts = false
      return loadRows(isOpening: true)
    }
    guard let id = room, let state = app.client.room(id), seeking == nil else { return }
    if needsCounts { updateCounts(id, state) }
    needsCounts = false
    guard !pending.isEmpty else { return }
    let changes = pending
    pending = []
    timeline.apply(changes)
  }

  // MARK: Loading

  private func loadRows(isOpening: Bool) {
    guard let id = room, let state = app.client.room(id), state.timeline.loadState == .loaded else { return }
    pending = []
    let all = state.timeline.items
    unread = app.client.unreadMemberCounts(id)
    items = all.map { $0.id }
    let made = all.enumerated().map { rows.row($1, in: state, unread: unread[$0]) }
    let saved = SavedPlace.of(id)
    if isOpening, let saved, state.timeline.index(of: saved.event) == nil, state.timeline.backState != .atStart {
      seeking = saved
      veil.show(.returning)
      return seek()
    }
    let position = saved.flatMap { place in
      state.timeline.index(of: place.event).map { ReadingPosition(row: RowID(items[$0]), offset: place.offset) }
    }
    timeline.load(made, head: head(state), at: position)
    if position == nil { showDivider(state) }
    veil.hide()
  }

  /// Above the first unread message; the reader begins there.
  private func showDivider(_ state: Room) {
    guard state.notificationCount > 0, let read = state.fullyRead, let index = state.timeline.index(of: read) else { return }
    let all = state.timeline.items
    guard let first = all[(index + 1)...].first(where: { $0.isOthersMessage(than: app.userID) }) else { return }
    timeline.setDivider(above: RowID(first.id))
    timeline.scroll(to: RowID(first.id), place: .top)
  }

  private func head(_ state: Room) -> HeadState {
    // Nobody reads a room before they are in it.
    guard state.membership != .invite else { return .hidden }
    return switch state.timeline.backState {
    case .idle: .more(.idle)
    case .loading: .more(.loading)
    case .failed: .more(.failed)
    case .atStart: .start
    }
  }

  private func paginationChanged() {
    guard let id = room, let state = app.client.room(id), state.timeline.loadState == .loaded else { return }
    guard seeking == nil else { return seek() }
    settle()
    timeline.setHead(head(state))
  }

  // MARK: Returning to a place

  /// One page more, unless the place is found or there is nothing more to look through.
  private func seek() {
    guard let saved = seeking, let id = room, let state = app.client.room(id) else { return }
    let isFound = state.timeline.index(of: saved.event) != nil
    switch state.timeline.backState {
    case .loading where !isFound: return
    case .idle where !isFound && items.count < SavedPlace.itemsLimit: app.ask(.paginateBack(.live(id)))
    default: stopSeeking()
    }
    items = state.timeline.items.map { $0.id }
  }

  private func stopSeeking() {
    seeking = nil
    loadRows(isOpening: false)
    dom.flush()
  }

  /// Remembers which message the reader looks at; at the end nothing needs to be remembered.
  func savePlace() {
    guard let id = room, seeking == nil, let state = app.client.room(id), state.timeline.loadState == .loaded else { return }
    guard let position = timeline.readingPosition, let index = state.timeline.index(of: position.row.rawValue) else {
      return SavedPlace.forget(id)
    }
    // Rows without an event (a gap) are no place one could find again: the next one is.
    for item in state.timeline.items[index...] {
      guard let event = item.eventID else { continue }
      return SavedPlace(event: event, offset: item.id == position.row.rawValue ? position.offset : 0).save(id)
    }
  }

  private func viewed(_ rows: VisibleRows) {
    guard let room, seeking == nil else { return }
    app.ask(.viewed(room, upTo: rows.last.rawValue))
  }
}

extension TimelineItem {
  var isState: Bool {
    if case .state = content { return true }
    return false
  }

  func isOthersMessage(than user: UserID?) -> Bool {
    if case .message = content { return sender != user }
    return false
  }
}

extension Client {
  var connectionIsRunning: Bool {
    if case .running = connection { return true }
    return false
  }
}
