import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// The saved messages of all rooms, the one that was saved last first. Each leads to its place, or is removed from the list.
final class SavedDialog<D: DOM> {
  private static var pageMessages: Int { 20 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let list: Node
  private let note: Node
  private let more: Node
  private var rest: [(room: RoomID, saved: SavedEvent)] = []
  private var shownCount = 0

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(.savedMessages, look: "ma-saved")
    note = dom.element("p", "ma-note", in: frame.body)
    dom.setAttribute(note, "role", "status")
    list = dom.element("div", "ma-results", in: frame.body)
    more = dom.button("ma-button ma-wide", .moreResults, in: frame.body)
    dom.on(more, .click) { [self] _ in showMore() }
    for id in app.client.roomIDs {
      for saved in app.client.room(id)?.savedEvents ?? [] { rest.append((id, saved)) }
    }
    rest = rest.ordered { $0.saved.savedAtMilliseconds > $1.saved.savedAtMilliseconds }
    showMore()
  }

  private func showMore() {
    for entry in rest.prefix(Self.pageMessages) { add(entry.room, entry.saved.event) }
    rest.removeFirst(min(rest.count, Self.pageMessages))
    dom.setFlag(more, "hidden", rest.isEmpty)
    showCount()
    dom.flush()
  }

  private func showCount() { dom.setText(note, shownCount == 0 && rest.isEmpty ? Strings[.savedEmpty] : Strings[.savedNote]) }

  private func add(_ room: RoomID, _ event: EventID) {
    shownCount += 1
    let line = dom.element("div", "ma-shared-line", in: list)
    let entry = dom.button("ma-result", in: line)
    let place = app.client.room(room).map { Strings.words(for: $0.name) } ?? ""
    let name = dom.element("span", "ma-result-name", text: place, in: entry)
    let text = dom.element("span", "ma-result-text", text: .loading, in: entry)
    let remove = dom.button("ma-round", icon: .close, label: .savedRemove, in: line)
    dom.on(entry, .click) { [app] _ in app.follow(Destination(Permalink(.room(room), event: event))) }
    dom.on(remove, .click) { [self] _ in
      app.saved.set([event], false, in: room) { [self] in
        guard frame.isOpen else { return }
        dom.release(line)
        shownCount -= 1
        showCount()
        frame.focusFirst()
      }
    }
    app.ask(.event(event, in: room)) { [self] result in
      guard frame.isOpen else { return }
      guard case .success(let event) = result else { return dom.setText(text, .savedGone) }
      dom.setText(name, place + " · " + app.words(of: event, in: room))
      guard case .message(let message)? = event.item?.content else { return dom.setText(text, .removedMessage) }
      let words = Strings.short(event.bundledEdit ?? message)
      dom.setText(text, words)
      dom.setLabel(remove, Strings[.removeNamed, words])
    }
  }
}
