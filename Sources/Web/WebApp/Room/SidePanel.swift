import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Beside the messages: a thread, what is pinned, a search.
final class SidePanel<D: DOM> {
  enum Content: Equatable {
    case thread(EventID)
    case pinned, search
  }

  var room: RoomID?
  var onGoTo: ((EventID) -> Void)?
  var onThreadSeen: (() -> Void)?
  /// Of a thread or the pins.
  private(set) var conversation: Conversation<D>?
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let title: Node
  private let body: Node
  private var content: Content?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("aside", "ma-side", in: parent)
    let header = dom.element("header", "ma-header", in: node)
    title = dom.element("h2", "ma-list-title", in: header)
    let close = dom.button("ma-round", icon: .close, label: Strings[.close], in: header)
    body = dom.element("div", "ma-side-body", in: node)
    dom.setFlag(node, "hidden", true)
    dom.on(close, .click) { [self] _ in hide() }
    dom.listen(node, .keyDown) { [self] event in
      guard case .escape = event.key, !event.modifiers.contains(.composing) else { return .pass }
      hide()
      return .preventDefault
    }
  }

  func close() { empty() }

  private func hide() {
    show(nil)
    app.main?.takeFocus()
    dom.flush()
  }

  private func empty() {
    conversation?.close()
    conversation = nil
    dom.releaseChildren(of: body)
  }

  func show(_ new: Content?) {
    guard new != content || new == .search else { return }
    empty()
    content = new
    dom.setFlag(node, "hidden", new == nil)
    guard let new, let room else { return }
    let name = name(of: new)
    dom.setText(title, name)
    dom.setLabel(node, name)
    switch new {
    case .thread(let root): open(TimelineKey(room, .thread(root)))
    case .pinned: open(TimelineKey(room, .pinned))
    case .search: SearchPanel(app, room, in: body) { [self] in went(to: $0) }
    }
    dom.flush()
  }

  private func name(of content: Content) -> String {
    switch content {
    case .thread: Strings[.thread]
    case .pinned: Strings[.pinnedMessages]
    case .search: Strings[.searchRoom]
    }
  }

  private func open(_ key: TimelineKey) {
    let new = Conversation(app, in: body)
    conversation = new
    new.onGoTo = { [self] event in
      if !new.feed.goTo(event) { went(to: event) }
    }
    new.feed.onFailed = { [self] in show(nil) }
    new.feed.onThreadSeen = { [self] in onThreadSeen?() }
    new.show(key)
    roomChanged()
    if case .thread = key.focus { new.writer.composer.focus() }
  }

  private func went(to event: EventID) { onGoTo?(event) }

  func roomChanged() {
    guard let conversation, let room else { return }
    let canWrite = app.client.room(room)?.canWrite ?? false
    conversation.writer.setCanWrite(canWrite && content != .pinned)
  }
}

/// Looks for messages of a room on the server.
final class SearchPanel<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let field: Field<D>
  private let results: Node
  private let note: Node
  private let more: Node
  private let found: (EventID) -> Void
  private var term = ""
  private var next: ByteString?
  /// Counts searches: an answer to an older one is none.
  private var version = 0

  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in parent: Node, _ found: @escaping (EventID) -> Void) {
    self.app = app
    self.room = room
    self.found = found
    dom = app.dom
    let form = dom.element("form", "ma-search", in: parent)
    dom.setAttribute(form, "role", "search")
    field = Field(dom, Strings[.searchFor], kind: "search", in: form)
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    results = dom.element("div", "ma-results", in: parent)
    more = dom.button("ma-button ma-wide", Strings[.moreResults], in: parent)
    dom.setFlag(more, "hidden", true)
    dom.on(form, .submit) { [self] _ in begin() }
    dom.on(more, .click) { [self] _ in search() }
    dom.focus(field.input)
  }

  private func begin() {
    term = field.text.trimmed
    next = nil
    version += 1
    dom.releaseChildren(of: results)
    dom.setFlag(more, "hidden", true)
    if term.utf8.isEmpty { dom.setText(note, "") } else { search() }
    dom.flush()
  }

  private func search() {
    dom.setText(note, Strings[.searching])
    var search = MessageSearch(ByteString(term))
    search.rooms = [room]
    search.keys = [.body]
    let asked = version
    app.ask(.search(search, from: next)) { [self] result in
      guard asked == version else { return }
      switch result {
      case .success(let page): show(page)
      case .failure(let error): dom.setText(note, Strings.words(for: error))
      }
      dom.flush()
    }
    dom.flush()
  }

  private func show(_ page: SearchPage) {
    let isFirst = next == nil
    next = page.nextBatch
    dom.setText(note, isFirst && page.results.isEmpty ? Strings[.nothingFound] : "")
    dom.setFlag(more, "hidden", next == nil || page.results.isEmpty)
    let state = app.client.room(room)
    for result in page.results {
      guard let id = result.event.eventID, let sender = result.event.sender else { continue }
      let entry = dom.button("ma-result", in: results)
      let name = state?.displayName(of: sender).string ?? sender.string
      let time = Host.shortLabel(result.event.originServerTimestamp ?? 0)
      dom.element("span", "ma-result-name", text: name + " · " + time, in: entry)
      dom.element("span", "ma-result-text", text: result.event.content["body"]?.string ?? "", in: entry)
      dom.on(entry, .click) { [self] _ in found(id) }
    }
  }
}
