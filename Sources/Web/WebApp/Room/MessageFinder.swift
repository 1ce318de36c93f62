import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// A message that was found.
struct FoundMessage {
  let room: RoomID
  let id: EventID
  let sender: UserID
  let timestampMilliseconds: Int64
}

/// Finds matching messages page by page, newest first: by words from the server's search and, in encrypted rooms, from what the browser has stored;
/// without words from the room's history. Besides the list it has the status line and the button for more.
final class MessageFinder<D: DOM> {
  /// Messages, or files of galleries, that are enough for one step.
  static var pageMessages: Int { 20 }
  /// If the server also sends messages that do not match: messages a page, and pages to search before the user is asked whether to go on.
  private static var pageEvents: Int { 100 }
  private static var pagesLimit: Int { 10 }
  /// Encrypted rooms that are searched at once.
  private static var storedRooms: Int { 200 }

  let list: Node
  private let app: App<D>
  private let dom: D
  private let pageMessages: Int
  private let note: Node
  /// What of encrypted rooms is searched.
  private let scope: Node
  private let more: MoreButton<D>
  private let emptyNote: () -> Strings.Key
  /// Adds a matching message to the list, before another one or at the end. Returns what can be in front of others.
  private let add: (FoundMessage, [MessageContent], Node) -> Node
  private var sought = SoughtMessages()
  private var next: ByteString?
  private var isServerDone = false
  /// Counts searches: answers to an older search are ignored, and its results are removed.
  private(set) var version = 0
  private var shownCount = 0
  private var wantedCount = 0
  private var pagesLeft = 0
  private var isLoading = false
  private var stored: StoredMessages?
  private var isStoredBusy = false
  /// What the server has ended with, while the store is still being searched.
  private var ended: String?
  /// The newest first.
  private var shown: [(message: FoundMessage, node: Node)] = []

  /// - Parameters:
  ///   - list: that is there already; nil makes one.
  ///   - pageMessages: that are enough at once.
  init(
    _ app: App<D>, in parent: Node, list: Node? = nil, pageMessages: Int = MessageFinder.pageMessages,
    emptyNote: @escaping @autoclosure () -> Strings.Key,
    _ add: @escaping (FoundMessage, [MessageContent], Node) -> Node
  ) {
    self.app = app
    self.pageMessages = pageMessages
    self.emptyNote = emptyNote
    self.add = add
    dom = app.dom
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    scope = dom.element("p", "ma-note", in: parent)
    self.list = list ?? dom.element("div", "ma-results", in: parent)
    more = MoreButton(dom, .moreResults, busy: .searching, in: parent)
    more.onPress = { [self] in load() }
  }

  /// Begins anew. Without anything that narrows it shows nothing.
  func begin(_ sought: SoughtMessages) {
    self.sought = sought
    version += 1
    next = nil
    isServerDone = false
    shownCount = 0
    shown = []
    isLoading = false
    more.end(hasMore: false)
    dom.releaseChildren(of: list)
    let isAsked = !sought.words.utf8.isEmpty || sought.isNarrowed
    beginStored()
    if isAsked, sought.room != nil || !sought.words.utf8.isEmpty { return load() }
    end(isAsked ? Strings[.wordsWanted] : "")
  }

  /// Nothing is drawn any more: its elements go, and an answer may still come.
  func close() {
    version += 1
    stored?.close()
  }

  /// The reader is near the end of the list.
  func loadMore() { if hasMore, !isLoading { load() } }

  private var hasMore: Bool { next != nil || stored.map { !$0.isAtEnd } ?? false }

  private func load() {
    wantedCount = shownCount + pageMessages
    pagesLeft = Self.pagesLimit
    isLoading = true
    dom.setText(note, more.isShown ? "" : Strings[.searching])
    more.begin()
    dom.setAttribute(list, "aria-busy", "true")
    ended = nil
    if isServerDone { ended = "" } else { ask() }
    loadStored()
    dom.flush()
  }

  private func end(_ words: String) {
    ended = words
    guard !isStoredBusy else { return }
    more.end(hasMore: hasMore)
    say(words.utf8.isEmpty && isLoading ? summary : words)
  }

  private var summary: String { shownCount == 0 ? Strings[emptyNote()] : Strings[.shownCount, "\(shownCount)"] }

  private func fail(_ error: ClientError) {
    more.fail()
    say(Strings.words(for: error))
  }

  private func say(_ words: String) {
    isLoading = false
    dom.setText(note, words)
    dom.setAttribute(list, "aria-busy", "false")
    dom.flush()
  }

  private func ask() {
    let asked = version
    let senders = sought.sender.map { [$0] } ?? []
    let limit = sought.isCutHere ? Self.pageEvents : pageMessages
    if let room = sought.room, sought.words.utf8.isEmpty {
      let filter = HistoryFilter(types: [.message], senders: senders, containsURL: sought.containsURL)
      return app.ask(.messages(in: room, from: next, limit: limit, filter: filter)) { [self] result in
        guard asked == version else { return }
        switch result {
        case .success(let page): took(page.events, page.nextBatch)
        case .failure(let error): fail(error)
        }
      }
    }
    var search = MessageSearch(ByteString(sought.words))
    if let room = sought.room { search.rooms = [room] }
    search.keys = [.body]
    search.senders = senders
    search.containsURL = sought.containsURL
    search.limit = limit
    app.ask(.search(search, from: next)) { [self] result in
      guard asked == version else { return }
      switch result {
      case .success(let page): took(page.results.map { $0.event }, page.nextBatch)
      case .failure(let error): fail(error)
      }
    }
  }

  /// Whether the account has removed it for itself.
  private func isRemoved(_ event: EventID, in room: RoomID) -> Bool {
    guard let removed = app.client.room(room)?.removedEvents else { return false }
    return removed.contains(event)
  }

  private func took(_ events: [Event], _ nextBatch: ByteString?) {
    // Clocks of senders differ: only a page of nothing but older messages is the end.
    var isPast = !events.isEmpty
    for event in events {
      let time = event.originServerTimestamp ?? 0
      if time >= sought.since { isPast = false }
      guard let sender = event.sender, let id = event.eventID, !app.client.ignoredUsers.contains(sender),
        let room = sought.room ?? event.roomID, case .message(let message)? = event.item?.content,
        !isRemoved(id, in: room)
      else { continue }
      let parts = sought.parts(of: event.bundledEdit ?? message, at: time)
      if !parts.isEmpty { show(FoundMessage(room: room, id: id, sender: sender, timestampMilliseconds: time), parts) }
    }
    next = isPast ? nil : nextBatch
    isServerDone = next == nil
    pagesLeft -= 1
    if next != nil, shownCount < wantedCount {
      if pagesLeft > 0 { return ask() }
      return end(Strings[.notAllLookedAt])
    }
    end("")
  }

  private func show(_ message: FoundMessage, _ parts: [MessageContent]) {
    guard !shown.contains(where: { $0.message.id == message.id }) else { return }
    let place = shown.firstIndex { $0.message.timestampMilliseconds < message.timestampMilliseconds } ?? shown.count
    shownCount += parts.count
    shown.insert((message, add(message, parts, place < shown.count ? shown[place].node : .none)), at: place)
  }

  // MARK: Encrypted rooms

  private func beginStored() {
    stored?.close()
    stored = nil
    isStoredBusy = false
    dom.setText(scope, "")
    guard !sought.words.utf8.isEmpty else { return }
    let rooms = (sought.room.map { [$0] } ?? app.client.roomIDs).filter { id in
      app.client.room(id).map { $0.isEncrypted && $0.membership == .join } ?? false
    }
    guard !rooms.isEmpty else { return }
    dom.setText(scope, Strings[.encryptedSearchNote])
    stored = StoredMessages(
      app.effects.search, ByteString(sought.words), in: Array(rooms.prefix(Self.storedRooms)), pageMessages: pageMessages)
  }

  private func loadStored() {
    guard let stored, !stored.isAtEnd else { return }
    let asked = version
    isStoredBusy = true
    stored.more { [self] room, matches in
      for match in matches { took(match, in: room) }
      dom.flush()
    } _: { [self] in
      guard asked == version else { return }
      isStoredBusy = false
      if let ended { end(ended) }
    }
  }

  private func took(_ match: StoredMatch, in room: RoomID) {
    guard !app.client.ignoredUsers.contains(match.sender), !isRemoved(match.eventID, in: room),
      sought.sender.map({ $0 == match.sender }) ?? true
    else { return }
    let parts = sought.parts(of: match.content, at: match.timestampMilliseconds)
    let found = FoundMessage(
      room: room, id: match.eventID, sender: match.sender, timestampMilliseconds: match.timestampMilliseconds)
    if !parts.isEmpty { show(found, parts) }
  }
}
