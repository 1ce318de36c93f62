import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The threads of a room, the one with the latest reply first.
final class ThreadsPanel<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let list: Node
  private let note: Node
  private let more: MoreButton<D>
  private let open: (EventID) -> Void
  private var next: ByteString?
  /// False once its elements are gone.
  var isOpen = true

  init(_ app: App<D>, _ room: RoomID, in parent: Node, _ open: @escaping (EventID) -> Void) {
    self.app = app
    self.room = room
    self.open = open
    dom = app.dom
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    list = dom.element("div", "ma-results", in: parent)
    more = MoreButton(dom, .moreResults, busy: .searching, in: parent)
    more.onPress = { [self] in load() }
    load()
  }

  private func load() {
    dom.setText(note, more.isShown ? "" : Strings[.searching])
    more.begin()
    app.ask(.threads(in: room, from: next)) { [self] result in
      guard isOpen else { return }
      switch result {
      case .success(let page): show(page)
      case .failure(let error):
        dom.setText(note, Strings.words(for: error))
        more.fail()
      }
      dom.flush()
    }
    dom.flush()
  }

  private func show(_ page: EventPage) {
    dom.setText(note, next == nil && page.events.isEmpty ? Strings[.noThreads] : "")
    next = page.nextBatch
    more.end(hasMore: next != nil)
    guard let state = app.client.room(room) else { return }
    for event in page.events {
      guard let root = event.eventID else { continue }
      let isUnread = state.unreadCounts.threads[root] != nil
      let entry = dom.button(isUnread ? "ma-result ma-unread" : "ma-result", in: list)
      dom.element("span", "ma-result-name", text: app.words(of: event, in: room), in: entry)
      dom.element("span", "ma-result-text", text: event.content["body"]?.string ?? "", in: entry)
      let summary = event.unsigned?["m.relations"]?["m.thread"]
      if let count = summary?.integer("count") {
        dom.element("span", "ma-result-name", text: Strings[.replies, count: Int(clamping: count)], in: entry)
      }
      dom.on(entry, .click) { [self] _ in open(root) }
    }
  }
}
