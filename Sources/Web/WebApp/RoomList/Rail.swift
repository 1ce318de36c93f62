import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What the list shows.
enum ListView: Hashable {
  case everything
  /// Direct chats.
  case people
  case space(RoomID)

  var space: RoomID? {
    if case .space(let id) = self { return id }
    return nil
  }
}

/// Chooses what the list shows: everything, direct chats or one of the spaces. A column beside the list, on a phone a row of chips above it;
/// hidden while there is no space.
final class Rail<D: DOM> {
  private(set) var view = ListView.everything
  /// Called with what the user chose.
  var onChoose: (ListView) -> Void = { _ in }
  /// The user's own picture, which opens the account menu.
  let profile: Node
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let list: Node
  private var items: [Item] = []
  /// Moved by the keyboard: it has the focus again where it comes to stand.
  private var carried: RoomID?
  private(set) var isHidden = true

  private struct Item {
    let view: ListView
    let button: Node
    let avatar: AvatarView<D>?
    let name: Node
    let dot: Node
    var label = ""
  }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-rail", in: parent)
    list = dom.element("div", "ma-rail-list", in: node)
    dom.setAttribute(list, "role", "toolbar")
    dom.setAttribute(list, "aria-orientation", "vertical")
    dom.setLabel(list, .spaces)
    let new = dom.button("ma-rail-item", in: node)
    Drawing.plus.draw(dom, in: dom.element("span", "ma-rail-icon", in: new))
    dom.setLabel(new, .newSpace)
    dom.setAttribute(new, "title", Strings[.newSpace])
    profile = dom.button("ma-round ma-me ma-rail-profile", label: Strings[.profile], in: node)
    dom.on(new, .click) { _ in app.dialogs.open(.more) { NewSpaceDialog(app, in: $0) } }
    dom.listen(list, .keyDown) { [self] in pressed($0) }
    dom.on(list, .reorder) { [self] in carriedTo(Int($0.x), $0.node) }
    dom.setFlag(node, "hidden", true)
  }

  /// Spaces came, went or have other names or pictures.
  func update() {
    let spaces = app.client.topLevelSpaces.filter { app.client.room($0)?.membership == .join }
    let views = [ListView.everything, .people] + spaces.map { .space($0) }
    if views != items.map({ $0.view }) {
      make(views)
      if let carried, let item = items.first(where: { $0.view.space == carried }) { dom.focus(item.button) }
      carried = nil
    }
    for index in items.indices { show(&items[index]) }
    isHidden = spaces.isEmpty
    dom.setFlag(node, "hidden", isHidden)
    if let space = view.space, !spaces.contains(space) { choose(.everything) }
  }

  /// Other rooms of these spaces are unread.
  func countsChanged(_ spaces: [RoomID]) {
    for index in items.indices { if let space = items[index].view.space, spaces.contains(space) { show(&items[index]) } }
  }

  func choose(_ view: ListView) {
    guard view != self.view else { return }
    self.view = view
    mark()
  }

  private func make(_ views: [ListView]) {
    dom.releaseChildren(of: list)
    items = views.map { view in
      let button = dom.button("ma-rail-item", in: list)
      var avatar: AvatarView<D>?
      switch view {
      case .everything: Drawing.home.draw(dom, in: dom.element("span", "ma-rail-icon", in: button))
      case .people: Drawing.user.draw(dom, in: dom.element("span", "ma-rail-icon", in: button))
      case .space: avatar = dom.avatar("", in: button)
      }
      let dot = dom.element("span", "ma-rail-dot", in: button)
      let name = dom.element("span", "ma-rail-name", in: button)
      dom.on(button, .click) { [self] _ in
        choose(view)
        onChoose(view)
        dom.flush()
      }
      if let space = view.space {
        dom.setAttribute(button, "data-movable", "")
        dom.listen(button, .contextMenu) { [app] _ in
          app.dialogs.open(.more, as: .menu) { RoomMenu(app, space, in: $0) }
          return .preventDefault
        }
      }
      return Item(view: view, button: button, avatar: avatar, name: name, dot: dot)
    }
    mark()
  }

  private func show(_ item: inout Item) {
    var unread = 0
    let title: String
    switch item.view {
    case .everything: title = Strings[.home]
    case .people: title = Strings[.direct]
    case .space(let id):
      guard let room = app.client.room(id) else { return }
      title = Strings.words(for: room.name)
      item.avatar?.show(id: id.string, name: title, source: app.avatarSource(room.avatar))
      unread = app.client.spaces.counts(of: id).unreadRooms
    }
    dom.setFlag(item.dot, "hidden", unread == 0)
    let label = unread > 0 ? Strings[.listed, title, Strings[.unreadRooms, count: unread]] : title
    guard !label.hasSameBytes(as: item.label) else { return }
    item.label = label
    dom.setText(item.name, title)
    dom.setLabel(item.button, label)
    dom.setAttribute(item.button, "title", title)
  }

  private func mark() {
    for item in items {
      let isChosen = item.view == view
      dom.setAttribute(item.button, "aria-pressed", isChosen ? "true" : "false")
      dom.setAttribute(item.button, "tabindex", isChosen ? "0" : "-1")
    }
  }

  /// Arrows go from one to the next; with Alt a space goes.
  private func pressed(_ event: PageEvent) -> EventReply {
    guard let at = items.firstIndex(where: { $0.button == event.node }) else { return .pass }
    if event.modifiers.contains(.alt) { return moved(items[at].view.space, event.key) }
    guard let next = event.place(from: at, of: items.count) else { return .pass }
    dom.focus(items[next].button)
    dom.flush()
    return .preventDefault
  }

  /// A space was let go there, counted among the others. It stands there at once; the sync that brings the order finds it so.
  private func carriedTo(_ index: Int, _ button: Node) {
    guard let from = items.firstIndex(where: { $0.button == button }), let space = items[from].view.space else { return }
    let first = items.firstIndex { $0.view.space != nil } ?? 0
    let item = items.remove(at: from)
    let to = min(first + max(0, index), items.count)
    let next = items.indices.contains(to) ? items[to] : nil
    if let next { dom.insert(button, into: list, before: next.button) } else { dom.append(button, to: list) }
    items.insert(item, at: to)
    let others = app.client.topLevelSpaces.filter { $0 != space }
    let place = next?.view.space.flatMap { others.firstIndex(of: $0) } ?? others.count
    app.moveSpace(space, to: place) { [self] in update() }
  }

  private func moved(_ space: RoomID?, _ key: Key) -> EventReply {
    let spaces = app.client.topLevelSpaces
    guard let space, let index = spaces.firstIndex(of: space) else { return .pass }
    let place: Int
    switch key {
    case .arrowUp, .arrowLeft: place = index - 1
    case .arrowDown, .arrowRight: place = index + 1
    default: return .pass
    }
    if spaces.indices.contains(place) {
      app.moveSpace(space, to: place)
      carried = space
    }
    return .preventDefault
  }
}

extension App {
  /// Moves a space among the user's top-level spaces.
  func moveSpace(_ space: RoomID, to index: Int, refused: @escaping () -> Void = {}) {
    guard let userID else { return }
    for (space, order) in client.topLevelSpaceOrders(toMove: space, to: index) {
      ask(.setSpaceOrder(order, of: space, for: userID)) { [self] result in
        guard case .failure(let error) = result else { return }
        notices.show(Strings.words(for: error), isTrouble: true)
        refused()
      }
    }
  }
}
