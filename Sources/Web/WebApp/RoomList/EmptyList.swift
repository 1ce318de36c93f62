import ClientCore
import Messenger
import PageWidgets
import WebHost

/// Stands in place of the list where there is nothing in it.
final class EmptyList<D: DOM> {
  enum Reason { case none, noMatch, noRooms }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private let title: Node
  private let note: Node
  /// On a phone; else they stand beside the list.
  private let cards: Node
  private var hasCards = false

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-empty", in: parent)
    Drawing.chat.draw(dom, in: dom.element("div", "ma-empty-picture", in: node))
    title = dom.element("h2", "ma-empty-title", in: node)
    note = dom.element("p", "ma-note", in: node)
    dom.setAttribute(note, "role", "status")
    cards = dom.element("div", "ma-narrow-only", in: node)
    show(.noRooms)
  }

  func show(_ reason: Reason) {
    dom.setFlag(node, "hidden", reason == .none)
    guard reason != .none else { return }
    let isFiltered = reason == .noMatch
    var isLoading = false
    switch app.client.connection {
    case .connecting, .firstSync: isLoading = true
    case .idle, .running, .reconnecting, .offline: break
    }
    isLoading = isLoading && !isFiltered
    // Where rooms will stand is seen; ears hear that they come.
    dom.setClass(node, isLoading ? "ma-empty ma-coming" : "ma-empty")
    dom.setText(title, isLoading ? "" : Strings[isFiltered ? .noMatch : .noRooms])
    dom.setText(note, isLoading ? Strings[.loadingRooms] : "")
    dom.setFlag(cards, "hidden", isFiltered || isLoading)
    if !isFiltered, !isLoading { addCards() }
  }

  private func addCards() {
    guard !hasCards, Host.pageState.contains(.narrow), app.client.isEmpty else { return }
    hasCards = true
    let main = app.main
    app.need(.more, isQuiet: true) { [self] in if app.main === main { HomeCards(app, in: cards) } }
  }
}
