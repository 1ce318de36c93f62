import ClientCore
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import PageWords
import WebHost

/// One timeline of the client in one list of the messenger: that of a room, of a thread, around a message, of what is pinned.
final class Feed<D: DOM> {
  let app: App<D>
  let dom: D
  /// Holds the list and what lies over it.
  let box: Node
  let timeline: Messenger.Timeline<D>
  let rows: RowMaker<D>
  let veil: Veil<D>
  private(set) var key: TimelineKey?
  /// The client counts places, the messenger knows identities: this is the bridge.
  var folding = Folding()
  var steps: [RowStep] = []
  /// How far the room has reached somebody else's device.
  var delivered = -1
  /// How many were in the room when the rows were made: whether own messages are read depends on it.
  var memberCount = 0
  /// Roots of threads that are shown as unread.
  var unreadThreads: [EventID] = []
  /// Where readers are shown to stand.
  var standing: [ItemID] = []
  var needsCounts = false
  var needsRows = false
  /// The rows are in; until then a step is not all there is.
  private var isLoaded = false
  /// A place to return to that is not in memory yet: pages are fetched until it is.
  var seeking: SavedPlace?
  var pages = PageCount()
  /// Highlighted once it is there.
  private(set) var wanted: EventID?
  /// How far the room had been read when it was opened; nil until it is.
  private(set) var openedAt: EventID?
  /// Changes of keys that the rows tell of.
  private(set) var shownNotes: [KeyNote] = []
  /// When rows that wait for a key say something else.
  var keyTimer: HostTask?
  /// The end of a thread is in view.
  var onThreadSeen: (() -> Void)?
  /// Opening failed.
  var onFailed: (() -> Void)?
  /// Leads to the first unread message where that is far behind; hidden otherwise.
  private let jump: Node
  var onFirstUnread: (() -> Void)?

  init(_ app: App<D>, _ options: TimelineOptions, in parent: Node) {
    self.app = app
    dom = app.dom
    timeline = Messenger.Timeline(dom: dom, options: options)
    box = dom.element("div", "ma-timeline", in: parent)
    dom.markPart(box)
    dom.append(timeline.root, to: box)
    veil = Veil(dom, in: box)
    rows = RowMaker(app)
    jump = dom.button("ma-button ma-unread-jump", in: box)
    dom.setFlag(jump, "hidden", true)
    dom.on(jump, .click) { [self] _ in
      dom.setFlag(jump, "hidden", true)
      onFirstUnread?()
    }
    veil.onSkip = { [self] in stopSeeking() }
    timeline.onNearStart = { [self] in if let key { app.ask(.timeline(.paginateBack(key))) } }
    timeline.onNearEnd = { [self] in if let key { app.ask(.timeline(.paginateForward(key))) } }
    timeline.onGapVisible = { [self] in if let key { app.ask(.timeline(.fillGap(key, $0.rawValue))) } }
    timeline.onVisible = { [self] in viewed($0) }
  }

  func close() {
    show(nil)
    timeline.close()
  }

  var room: Room? { key.flatMap { app.client.room($0.room) } }
  var source: ClientCore.Timeline? { key.flatMap { app.client.timeline($0) } }
  var isLive: Bool { key?.focus == .live }

  func item(_ row: RowID) -> TimelineItem? { source?.item(Folding.item(of: row)) }

  // MARK: Which timeline

  /// - Parameter event: shown and highlighted.
  func show(_ new: TimelineKey?, at event: EventID? = nil) {
    if new?.room != key?.room {
      openedAt = nil
      dom.setFlag(jump, "hidden", true)
    }
    if let old = key {
      savePlace()
      key = nil
      app.ask(.timeline(.close(old)))
    }
    seeking = nil
    key = new
    wanted = event
    folding = Folding()
    steps = []
    standing = []
    needsRows = false
    isLoaded = false
    pages = PageCount()
    keyTimer?.cancel()
    keyTimer = nil
    rows.forgetSenders()
    timeline.load([], head: .hidden)
    timeline.setTyping([])
    guard let new else { return }
    veil.show(.opening)
    app.ask(.timeline(.open(new))) { [self] result in
      guard key == new else { return }
      if case .failed(let error) = result { return failed(error) }
      // A thread in which nobody said anything yet has no steps.
      if !isLoaded { loadRows(isOpening: true) }
      dom.flush()
    }
    loadRows(isOpening: true)
  }

  private func failed(_ error: ClientError) {
    veil.hide()
    app.notices.show(Strings.words(for: error), isTrouble: true)
    onFailed?()
  }

  // MARK: Changes

  func changed(_ changes: [TimelineChange]) {
    if !isLoaded { needsRows = true }
    for change in changes {
      if case .reset = change { needsRows = true }
    }
    // What the client holds now has all changes of the step: rows loaded from it must not take them in once more.
    guard seeking == nil, !needsRows else { return }
    for change in changes { take(change) }
    needsCounts = true
  }

  func membersChanged(_ users: [UserID]) {
    rows.forget(users)
    guard seeking == nil, !needsRows, let all = source?.items, all.count == folding.count else { return }
    let touched = Set(users)
    for (index, item) in all.enumerated() where item.speaks(of: touched) { renew(index) }
  }

  /// Who may what, or that the room is a direct chat: both stand beside names.
  func rolesChanged() {
    rows.forgetSenders()
    guard seeking == nil, !needsRows, let all = source?.items, all.count == folding.count else { return }
    for (index, item) in all.enumerated() where item.hasMessageRow { renew(index) }
  }

  /// Everything that this step changed goes into the messenger as one step.
  func settle() {
    if needsRows {
      needsRows = false
      needsCounts = false
      return isLoaded ? loadRows(isOpening: false, isAgain: true) : loadRows(isOpening: true)
    }
    guard let room, seeking == nil else { return }
    if needsCounts, isLive { updateCounts(room) }
    needsCounts = false
    guard !steps.isEmpty, let all = source?.items, all.count == folding.count else { return }
    timeline.apply(takeSteps(room, all))
  }

  func showTyping() {
    guard isLive, let room else { return }
    timeline.setTyping(room.typing.map { TypingMember(rows.sender($0, in: room)) })
  }

  // MARK: Loading

  /// What is there is shown in another way from now on. Rows that are still to come do so anyway.
  func renewRows() {
    if isLoaded, seeking == nil { loadRows(isOpening: false, isAgain: true) }
  }

  /// - Parameter isAgain: what is shown comes anew, and the reader stays where they are.
  func loadRows(isOpening: Bool, isAgain: Bool = false) {
    guard let key, let room, let source, source.loadState == .loaded else { return }
    let reading = isAgain ? timeline.readingPosition.map { (item: folding.item(at: $0.row), offset: $0.offset) } : nil
    isLoaded = true
    needsRows = false
    openedAt = openedAt ?? room.unreadAfter ?? room.fullyRead
    steps = []
    shownNotes = keyNotes
    folding = Folding(source.items, hidesDeleted: app.hidesDeleted, own: app.userID, notes: shownNotes)
    standing = []
    delivered = -1
    unreadThreads = Array(room.unreadCounts.threads.keys)
    if isLive {
      delivered = app.client.lastDelivered(in: key.room) ?? -1
      memberCount = room.joinedMemberCount
      for (index, count) in app.client.unreadMemberCounts(key.room).enumerated() where index < folding.count {
        folding.setUnread(count, at: index)
      }
      for (index, users) in currentReaders(room, source) where index < folding.count {
        folding.setReaders(users, at: index)
        standing.append(folding[index].id)
      }
    }
    let saved = !isAgain && isLive && wanted == nil && room.unreadAfter == nil ? SavedPlace.of(key.room) : nil
    if isOpening, let saved, source.index(of: saved.event) == nil, source.backState != .atStart {
      seeking = saved
      veil.show(.returning)
      return seek()
    }
    let index = saved.map { source.index(of: $0.event) } ?? reading.flatMap { source.index(of: $0.item) }
    let position = index.map {
      ReadingPosition(row: folding.row(of: $0), offset: saved?.offset ?? reading?.offset ?? 0)
    }
    timeline.load(makeAll(source.items, room), head: head(source, room), at: position, tail: tail(source))
    veil.hide()
    if let event = wanted {
      if event == openedAt, let first = firstUnread(room, source) { timeline.setDivider(above: first) }
      if goTo(event) { wanted = nil }
    } else if position == nil, isLive, !isAgain {
      showDivider(room, source)
    }
  }

  /// False where the event is not in this timeline.
  @discardableResult
  func goTo(_ event: EventID) -> Bool {
    settle()
    guard let source, source.loadState == .loaded, let index = source.index(of: event), index < folding.count else {
      return false
    }
    return timeline.scroll(to: folding.row(of: index), place: .centre, highlight: true)
  }

  /// Above the first unread message; the reader begins there.
  private func showDivider(_ room: Room, _ source: ClientCore.Timeline) {
    guard room.isUnread, !hasComeBack(source) else { return }
    guard let first = firstUnread(room, source) else {
      // What was read last is not at hand: the reader may want to go there.
      guard let read = openedAt, source.index(of: read) == nil else { return }
      let count = room.notificationCount
      dom.setText(jump, (count > 0 ? Strings[.newMessages, count: count] : Strings[.firstUnread]) + " ↑")
      return dom.setFlag(jump, "hidden", false)
    }
    timeline.setDivider(above: first)
    timeline.scroll(to: first, place: .top)
  }

  /// Whether the user was away since they read last: what was said meanwhile is not what they have come for.
  private func hasComeBack(_ source: ClientCore.Timeline) -> Bool {
    guard let read = openedAt, let own = app.userID else { return false }
    return source.items[(source.index(of: read).map { $0 + 1 } ?? 0)...].contains {
      if case .state(.joined(own)) = $0.content { true } else { false }
    }
  }

  /// Returns the first unread message of somebody else, or nil if none is in memory.
  func firstUnread(_ room: Room, _ source: ClientCore.Timeline) -> RowID? {
    guard let read = openedAt ?? room.fullyRead, let index = source.index(of: read) else { return nil }
    let all = source.items
    return all[(index + 1)...].firstIndex { $0.isOthersMessage(than: app.userID) }.map { folding.row(of: $0) }
  }
}

extension TimelineItem {
  func isOthersMessage(than user: UserID?) -> Bool {
    if case .message = content { return sender != user }
    return false
  }

  /// Whether names of these members may stand in its row.
  func speaks(of users: Set<UserID>) -> Bool {
    if isState || users.contains(sender) || thread != nil || !reactions.isEmpty || replyTo != nil { return true }
    if case .message(let message) = content { return message.formattedBody != nil }
    return false
  }
}
