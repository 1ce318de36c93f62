import ClientCore
import JSON
import MatrixModel
import Messenger

/// Words to look for, and which rooms to show: all, unread ones, those of a space.
final class RoomListFilterBar<D: DOM> {
  var onChange: () -> Void = {}
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let choice: Choice<D>
  private let readAll: Node
  private var words = ""
  /// What is kept of the choice: a name of `RoomListFilterBar.kinds`, or a space's ID.
  private var kind = ""

  private static var leftRooms: String { "left" }

  /// What is kept, the words for it, what it means.
  private static var kinds: [(value: String, words: Strings.Key, conditions: RoomListFilter.Conditions)] {
    [
      ("", .allConversations, []), ("unread", .unreadOnly, .unread), ("mentions", .mentionsOnly, .mentions),
      ("people", .people, .people), ("rooms", .rooms, .groups),
      ("hidden", .hiddenRooms, .hidden), (leftRooms, .leftRooms, [])
    ]
  }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-filter-bar", in: parent)
    let box = dom.element("label", "ma-filter", in: node)
    Drawing.search.draw(dom, in: box)
    let field = dom.element("input", "ma-filter-input", in: box)
    dom.setAttribute(field, "type", "search")
    dom.setAttribute(field, "placeholder", Strings[.filter])
    dom.setLabel(field, .filter)
    choice = Choice(dom, Strings[.shownConversations], [], selected: "", in: node)
    dom.setClass(choice.node, "ma-field ma-filter-choice")
    readAll = dom.button("ma-button ma-wide", .markAllRead, in: node)
    dom.setFlag(readAll, "hidden", true)
    dom.on(readAll, .click) { _ in app.askOrSay(.reading(.markRead(nil))) }
    choice.onChange = { [self] in
      kind = $0
      dom.setFlag(readAll, "hidden", !kind.hasSameBytes(as: "unread"))
      onChange()
    }
    dom.on(field, .input) { [self] event in
      words = event.text.trimmed
      onChange()
      dom.flush()
    }
    update()
  }

  /// Spaces came, went or have other names.
  func update() {
    var options = Self.kinds.map { (value: $0.value, words: Strings[$0.words]) }
    for branch in app.client.spaces.tree(spacesOnly: true) {
      guard let room = app.client.room(branch.room), room.membership == .join else { continue }
      let indent = String(repeating: "\u{2003}", count: min(branch.depth, 4))
      options.append((branch.room.string, indent + Strings.words(for: room.name)))
    }
    choice.setOptions(options, selected: kind)
  }

  func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }

  var isActive: Bool { !words.utf8.isEmpty || !kind.utf8.isEmpty }

  /// The space whose rooms are shown.
  var space: RoomID? { RoomID(kind) }

  var query: RoomListQuery {
    var query = RoomListQuery(sections: [.invites, .knocks, .favourites, .people, .rooms, .lowPriority, .spaces])
    query.sort = .tagOrder
    if kind.hasSameBytes(as: Self.leftRooms) { query.sections = [.left] }
    if !words.utf8.isEmpty { query = .search(ByteString(words)) }
    query.filter.conditions = Self.kinds.first { $0.value.hasSameBytes(as: kind) }?.conditions ?? []
    if let space { query.filter.place = .inSpace(space) }
    return query
  }
}
