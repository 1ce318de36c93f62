import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Beside the messages: a thread, what is pinned, a search, all that was shared.
final class SidePanel<D: DOM> {
  enum Content: Equatable {
    case thread(EventID)
    case pinned, search, threads, shared
  }

  var room: RoomID?
  var onShown: ((Bool) -> Void)?
  var onGoTo: ((EventID) -> Void)?
  var onThreadSeen: ((EventID) -> Void)?
  /// Of a thread or the pins.
  private(set) var conversation: Conversation<D>?
  private(set) var search: SearchPanel<D>?
  private var threads: ThreadsPanel<D>?
  private var shared: SharedPanel<D>?
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
    dom.markPart(node)
    let header = dom.element("header", "ma-header", in: node)
    title = dom.element("h2", "ma-list-title", in: header)
    let close = dom.button("ma-round", icon: .close, label: .close, in: header)
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
    dom.flush()
  }

  private func empty() {
    conversation?.close()
    conversation = nil
    search?.close()
    search = nil
    threads?.isOpen = false
    threads = nil
    shared?.finder?.close()
    shared = nil
    dom.releaseChildren(of: body)
  }

  @inline(never)
  func show(_ new: Content?) {
    guard new != content || new == .search || new == .threads || new == .shared else { return }
    empty()
    content = new
    dom.setFlag(node, "hidden", new == nil)
    onShown?(new != nil)
    guard let new, let room else { return }
    let name = name(of: new)
    dom.setText(title, name)
    dom.setLabel(node, name)
    switch new {
    case .thread(let root): open(TimelineKey(room, .thread(root)))
    case .pinned: open(TimelineKey(room, .pinned))
    case .search, .threads, .shared: app.need(.more) { [self] in open(new, room) }
    }
    dom.flush()
  }

  private func open(_ new: Content, _ room: RoomID) {
    // It may be another by now, or there already.
    guard content == new, self.room == room, search == nil, threads == nil, shared == nil else { return }
    switch new {
    case .search:
      search = SearchPanel(app, room, in: body) { [self] place, event in
        // On a phone it lies over what was found.
        if Host.pageState.contains(.narrow) { hide() }
        if place == self.room { went(to: event) } else { app.follow(Destination(Permalink(.room(place), event: event))) }
      }
    case .threads: threads = ThreadsPanel(app, room, in: body) { [self] in show(.thread($0)) }
    case .shared:
      shared = SharedPanel(app, room, in: body) { [self] event in
        hide()
        went(to: event)
      }
    case .thread, .pinned: break
    }
    dom.flush()
  }

  func search(for words: String) {
    show(.search)
    app.need(.more) { [self] in search?.begin(words) }
  }

  private func name(of content: Content) -> String {
    switch content {
    case .thread: Strings[.thread]
    case .pinned: Strings[.pinnedMessages]
    case .search: Strings[.searchRoom]
    case .threads: Strings[.threads]
    case .shared: Strings[.sharedInRoom]
    }
  }

  private func open(_ key: TimelineKey) {
    let new = Conversation(app, in: body)
    conversation = new
    new.onGoTo = { [self] event in
      if !new.feed.goTo(event) { went(to: event) }
    }
    new.onSearch = { [self] in search(for: $0) }
    new.feed.onFailed = { [self] in show(nil) }
    if case .thread(let root) = key.focus { new.feed.onThreadSeen = { [self] in onThreadSeen?(root) } }
    new.show(key)
    roomChanged()
    if case .thread = key.focus { new.writer.composer.focus() }
  }

  private func went(to event: EventID) { onGoTo?(event) }

  func roomChanged() {
    guard let conversation, let room else { return }
    let canWrite = app.client.room(room).map { app.canWrite(in: $0) } ?? false
    conversation.writer.setCanWrite(canWrite && content != .pinned)
  }
}
