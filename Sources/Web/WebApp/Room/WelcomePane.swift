import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Stands where no room is open: what can be done first beside an empty list, else that one can be chosen there.
final class WelcomePane<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let title: Node
  private let note: Node
  private let new: Node
  private let cards: Node
  private var hasCards = false
  private var shown = ""

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-empty ma-welcome", in: parent)
    Drawing.logo.draw(dom, in: node)
    title = dom.element("h2", "ma-empty-title", in: node)
    note = dom.element("p", "ma-note", in: node)
    new = dom.button("ma-button ma-primary", .newConversation, in: node)
    cards = dom.element("div", in: node)
    dom.on(new, .click) { _ in app.dialogs.open(.more) { NewDialog(app, in: $0) } }
    update()
  }

  func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }

  /// A room came, or the user has another name.
  func update() {
    let isFirst = app.client.isEmpty && app.embedding == nil
    let name = app.client.ownDisplayName?.string ?? app.userID?.localpart.string ?? ""
    let words = isFirst ? Strings[.homeWelcome, name] : Strings[.pickRoom]
    guard !words.hasSameBytes(as: shown) else { return }
    shown = words
    dom.setText(title, words)
    dom.setText(note, isFirst ? .homeNote : .pickRoomNote)
    dom.setFlag(new, "hidden", isFirst)
    dom.setFlag(cards, "hidden", !isFirst)
    guard isFirst, !hasCards, !Host.pageState.contains(.narrow) else { return }
    hasCards = true
    let main = app.main
    app.need(.more, isQuiet: true) { [self] in if app.main === main { HomeCards(app, in: cards) } }
  }
}
