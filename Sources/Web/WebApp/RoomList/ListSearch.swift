import Messenger
import PageWidgets
import WebHost

/// The box above the list, and what it finds in the place of the rooms while something stands in it.
final class ListSearch<D: DOM> {
  /// Called when it takes the place of the rooms, and when it gives it back.
  var onShow: () -> Void = {}
  private let app: App<D>
  private let dom: D
  private let filter: RoomListFilterBar<D>
  private let found: Node
  /// nil until something is looked for.
  private var results: SearchResults<D>?
  /// Where the user was before, by the keyboard.
  private var opener = Node.none

  init(_ app: App<D>, _ filter: RoomListFilterBar<D>, in parent: Node) {
    self.app = app
    self.filter = filter
    dom = app.dom
    found = dom.element("div", "ma-found", in: parent)
    dom.setAttribute(found, "role", "group")
    dom.setLabel(found, .searchAll)
    // It scrolls, and holds nothing that takes the focus: what is found is marked from the box.
    dom.setAttribute(found, "tabindex", "0")
    filter.onWords = { [self] in search($0) }
    filter.onKey = { [self] in pressed($0) }
  }

  var isShown: Bool { !filter.words.utf8.isEmpty }

  /// Escape leads back to where the user was.
  func takeFocus() {
    let place = app.dialogs.opener
    if place != filter.field { opener = place }
    dom.focus(filter.field)
  }

  func connectionChanged() { results?.connectionChanged() }

  private func search(_ words: String) {
    onShow()
    guard !words.utf8.isEmpty || results != nil else { return dom.flush() }
    app.need(.more) { [self] in
      let results = results ?? SearchResults(app, of: filter.field, in: found)
      results.onEnd = { [self] in filter.clear() }
      self.results = results
      results.type(filter.words)
      dom.flush()
    }
    dom.flush()
  }

  private func pressed(_ event: PageEvent) -> EventReply {
    let reply = results?.pressed(event) ?? .pass
    guard reply == .pass, case .escape = event.key, opener != .none else { return reply }
    dom.focus(opener)
    opener = .none
    dom.flush()
    return .preventDefault
  }
}
