import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Finds matching messages page by page, newest first: by words from the server's search, without words from the room's history.
/// Besides the list it has the status line and the button for more.
final class MessageFinder<D: DOM> {
  /// Messages, or files of galleries, that are enough for one step.
  static var pageMessages: Int { 20 }
  /// If the server also sends messages that do not match: messages a page, and pages to search before the user is asked whether to go on.
  private static var pageEvents: Int { 100 }
  private static var pagesLimit: Int { 10 }

  let list: Node
  private let app: App<D>
  private let dom: D
  private let pageMessages: Int
  private let note: Node
  private let more: MoreButton<D>
  private let emptyNote: () -> Strings.Key
  /// Adds a matching message to the list.
  private let add: (Event, RoomID, [MessageContent]) -> Void
  private var sought = SoughtMessages()
  private var next: ByteString?
  /// Counts searches: answers to an older search are ignored, and its results are removed.
  private(set) var version = 0
  private var shownCount = 0
  private var wantedCount = 0
  private var pagesLeft = 0
  private var isLoading = false

  /// - Parameters:
  ///   - list: that is there already; nil makes one.
  ///   - pageMessages: that are enough at once.
  init(
    _ app: App<D>, in parent: Node, list: Node? = nil, pageMessages: Int = MessageFinder.pageMessages,
    emptyNote: @escaping @autoclosure () -> Strings.Key,
    _ add: @escaping (Event, RoomID, [MessageContent]) -> Void
  ) {
    self.app = app
    self.pageMessages = pageMessages
    self.emptyNote = emptyNote
    self.add = add
    dom = app.dom
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    self.list = list ?? dom.element("div", "ma-results", in: parent)
    more = MoreButton(dom, .moreResults, busy: .searching, in: parent)
    more.onPress = { [self] in load() }
  }

  /// Begins anew. Without anything that narrows it shows nothing.
  func begin(_ sought: SoughtMessages) {
    self.sought = sought
    version += 1
    next = nil
    shownCount = 0
    isLoading = false
    more.end(hasMore: false)
    dom.releaseChildren(of: list)
    let isAsked = !sought.words.utf8.isEmpty || sought.isNarrowed
    if isAsked, sought.room != nil || !sought.words.utf8.isEmpty { return load() }
    end(isAsked ? Strings[.wordsWanted] : "")
  }

  /// Nothing is drawn any more: its elements go, and an answer may still come.
  func close() { version += 1 }

  /// The reader is near the end of the list.
  func loadMore() { if next != nil, !isLoading { load() } }

  private func load() {
    wantedCount = shownCount + pageMessages
    pagesLeft = Self.pagesLimit
    isLoading = true
    dom.setText(note, more.isShown ? "" : Strings[.searching])
    more.begin()
    dom.setAttribute(list, "aria-busy", "true")
    ask()
    dom.flush()
  }

  private func end(_ words: String) {
    more.end(hasMore: next != nil)
    say(words)
  }

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
  private func isRemoved(_ event: EventID?, in room: RoomID) -> Bool {
    guard let event, let removed = app.client.room(room)?.removedEvents else { return false }
    return removed.contains(event)
  }

  private func took(_ events: [Event], _ nextBatch: ByteString?) {
    // Clocks of senders differ: only a page of nothing but older messages is the end.
    var isPast = !events.isEmpty
    for event in events {
      let time = event.originServerTimestamp ?? 0
      if time >= sought.since { isPast = false }
      guard let sender = event.sender, !app.client.ignoredUsers.contains(sender),
        let room = sought.room ?? event.roomID, case .message(let message)? = event.item?.content,
        !isRemoved(event.eventID, in: room)
      else { continue }
      let parts = sought.parts(of: event.bundledEdit ?? message, at: time)
      if parts.isEmpty { continue }
      shownCount += parts.count
      add(event, room, parts)
    }
    next = isPast ? nil : nextBatch
    pagesLeft -= 1
    if next != nil, shownCount < wantedCount {
      if pagesLeft > 0 { return ask() }
      return end(Strings[.notAllLookedAt])
    }
    end(shownCount == 0 ? Strings[emptyNote()] : Strings[.shownCount, "\(shownCount)"])
  }
}
