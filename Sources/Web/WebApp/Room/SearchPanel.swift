import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Looks for messages on the server: of one room, or of all.
final class SearchPanel<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let field: Field<D>
  private var isEverywhere = false
  private let results: Node
  private let note: Node
  private let more: Node
  private let found: (RoomID, EventID) -> Void
  private var term = ""
  private var next: ByteString?
  /// Counts searches: an answer to an older one is none.
  private var version = 0

  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in parent: Node, _ found: @escaping (RoomID, EventID) -> Void) {
    self.app = app
    self.room = room
    self.found = found
    dom = app.dom
    let form = dom.element("form", "ma-search", in: parent)
    dom.setAttribute(form, "role", "search")
    field = Field(dom, .searchFor, kind: "search", in: form)
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    results = dom.element("div", "ma-results", in: parent)
    more = dom.button("ma-button ma-wide", .moreResults, in: parent)
    dom.setFlag(more, "hidden", true)
    if app.embedding == nil {
      CheckBox(dom, Strings[.everywhere], isOn: false, in: form) { [self] in
        isEverywhere = $0
        begin()
      }
    }
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
    dom.setText(note, .searching)
    var search = MessageSearch(ByteString(term))
    if !isEverywhere { search.rooms = [room] }
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
    for result in page.results {
      guard let id = result.event.eventID, let sender = result.event.sender else { continue }
      let place = isEverywhere ? result.event.roomID ?? room : room
      let state = app.client.room(place)
      let entry = dom.button("ma-result", in: results)
      if isEverywhere, let state { dom.element("span", "ma-result-name", text: Strings.words(for: state.name), in: entry) }
      let name = state?.displayName(of: sender).string ?? sender.string
      let time = Host.shortLabel(result.event.originServerTimestamp ?? 0)
      dom.element("span", "ma-result-name", text: name + " · " + time, in: entry)
      dom.element("span", "ma-result-text", text: result.event.content["body"]?.string ?? "", in: entry)
      dom.on(entry, .click) { [self] _ in found(place, id) }
    }
  }
}
