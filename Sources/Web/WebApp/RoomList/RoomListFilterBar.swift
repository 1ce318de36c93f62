import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// The box to search in, and which of the rooms to show: all, unread ones, those the user left.
final class RoomListFilterBar<D: DOM> {
  var onChange: () -> Void = {}
  /// Called with the words to look for.
  var onWords: (String) -> Void = { _ in }
  var onKey: (PageEvent) -> EventReply = { _ in .pass }
  let field: Node
  private(set) var words = ""
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let button: Node
  private let chip: Node
  private let chipWords: Node
  private let readAll: Node
  private var kind = Kind.all

  private enum Kind: CaseIterable {
    case all, unread, mentions, rooms, hidden, left

    var words: Strings.Key {
      switch self {
      case .all: .allConversations
      case .unread: .unreadOnly
      case .mentions: .mentionsOnly
      case .rooms: .rooms
      case .hidden: .hiddenRooms
      case .left: .leftRooms
      }
    }

    var conditions: RoomListFilter.Conditions {
      switch self {
      case .all, .left: []
      case .unread: .unread
      case .mentions: .mentions
      case .rooms: .groups
      case .hidden: .hidden
      }
    }
  }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-filter-bar", in: parent)
    let line = dom.element("div", "ma-filter-line", in: node)
    let box = dom.element("label", "ma-filter", in: line)
    Drawing.search.draw(dom, in: box)
    field = dom.element("input", "ma-filter-input", in: box)
    for (name, value) in [
      ("type", "search"), ("autocomplete", "off"), ("spellcheck", "false"), ("placeholder", Strings[.searchBox]),
      ("aria-keyshortcuts", "Control+K"), ("role", "combobox"), ("aria-autocomplete", "list"), ("aria-expanded", "false")
    ] { dom.setAttribute(field, name, value) }
    dom.setLabel(field, .searchAll)
    button = dom.button("ma-round", icon: .filter, label: .shownConversations, in: line)
    dom.setAttribute(button, "aria-haspopup", "menu")
    chip = dom.button("ma-filter-chip", in: node)
    chipWords = dom.element("span", in: chip)
    Drawing.close.draw(dom, in: chip)
    readAll = dom.button("ma-button ma-wide", .markAllRead, in: node)
    dom.on(button, .click) { [self] _ in openMenu() }
    dom.on(chip, .click) { [self] _ in
      choose(.all)
      dom.focus(button)
    }
    dom.on(readAll, .click) { _ in app.askOrSay(.reading(.markRead(nil))) }
    dom.on(field, .input) { [self] event in
      words = event.text.trimmed
      onWords(words)
    }
    dom.listen(field, .keyDown) { [self] in onKey($0) }
    showKind()
  }

  /// Nothing is looked for any more.
  func clear() {
    words = ""
    dom.setValue(field, "")
    onWords("")
  }

  private func openMenu() {
    app.dialogs.open(as: .menu) { [self] frame in
      let menu = Menu(Strings[.shownConversations], in: frame)
      for kind in Kind.allCases { menu.add(kind.words, isOn: kind == self.kind) { [self] in choose(kind) } }
      menu.divide()
      menu.add(.savedMessages, .bookmark) { [app] in app.dialogs.open(.more) { SavedDialog(app, in: $0) } }
    }
  }

  private func choose(_ kind: Kind) {
    self.kind = kind
    showKind()
    onChange()
    dom.flush()
  }

  private func showKind() {
    dom.setFlag(chip, "hidden", kind == .all)
    dom.setText(chipWords, kind.words)
    dom.setLabel(chip, Strings[.removeNamed, Strings[kind.words]])
    dom.setFlag(readAll, "hidden", kind != .unread)
  }

  /// Few rooms need no choice of them.
  func setChoiceHidden(_ isHidden: Bool) { dom.setFlag(button, "hidden", isHidden) }

  var isActive: Bool { kind != .all }

  func query(in view: ListView) -> RoomListQuery {
    var query = RoomListQuery(sections: [.invites, .knocks, .favourites, .people, .rooms, .lowPriority])
    query.sort = .tagOrder
    if kind == .left { query.sections = [.left] }
    query.filter.conditions = kind.conditions
    switch view {
    case .everything: break
    case .people: query.filter.conditions.formUnion(.people)
    case .space(let space): query.filter.place = .inSpace(space)
    }
    return query
  }
}
