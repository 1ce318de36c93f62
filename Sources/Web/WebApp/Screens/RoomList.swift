import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The conversations, invitations first, then the one with the latest message.
final class RoomList<D: DOM> {
  /// Fewer rooms than this need no search field.
  private static var filterFrom: Int { 8 }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private let avatar: AvatarView<D>
  private let filterBox: Node
  private let scroller: Node
  private let empty: Node
  private let emptyTitle: Node
  private let emptyNote: Node
  private let emptyButton: Node
  private var entries: [RoomID: RoomListEntry<D>] = [:]
  private var shown: [RoomID] = []
  private var selected: RoomID?
  private var filter = ""

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("nav", "ma-list", in: parent)
    dom.setLabel(node, Strings[.conversations])
    let header = dom.element("header", "ma-header", in: node)
    let profile = dom.button("ma-round", label: Strings[.profile], in: header)
    avatar = dom.avatar("ma-avatar-small", in: profile)
    dom.element("h1", "ma-list-title", text: Strings[.conversations], in: header)
    let new = dom.button("ma-round ma-new", icon: .plus, label: Strings[.newConversation], in: header)
    filterBox = dom.element("label", "ma-filter", in: node)
    Drawing.search.draw(dom, in: filterBox)
    let field = dom.element("input", "ma-filter-input", in: filterBox)
    dom.setAttribute(field, "type", "search")
    dom.setAttribute(field, "placeholder", Strings[.filter])
    dom.setLabel(field, Strings[.filter])
    scroller = dom.element("div", "ma-rooms", in: node)
    dom.setAttribute(scroller, "role", "list")
    empty = dom.element("div", "ma-empty", in: node)
    Drawing.chat.draw(dom, in: dom.element("div", "ma-empty-picture", in: empty))
    emptyTitle = dom.element("h2", "ma-empty-title", in: empty)
    emptyNote = dom.element("p", "ma-note", in: empty)
    emptyButton = dom.button("ma-button ma-primary", Strings[.newConversation], in: empty)
    dom.on(profile, .click) { _ in app.dialogs.open { ProfileDialog(app, in: $0) } }
    dom.on(new, .click) { _ in app.dialogs.open { NewDialog(app, in: $0) } }
    dom.on(emptyButton, .click) { _ in app.dialogs.open { NewDialog(app, in: $0) } }
    dom.on(field, .input) { [self] event in
      filter = event.text.trimmed.asciiLowercased
      reorder()
      dom.flush()
    }
    dom.listen(scroller, .keyDown) { [self] in pressed($0) }
  }

  func showProfile() {
    guard let user = app.userID else { return }
    avatar.show(
      id: user.string, name: app.client.ownDisplayName?.string ?? user.string, source: app.avatarSource(app.client.ownAvatar))
  }

  func select(_ room: RoomID?) {
    if let selected { entries[selected]?.setSelected(false) }
    selected = room
    if let room { entries[room]?.setSelected(true) }
  }

  func update(_ id: RoomID, _ aspects: RoomAspects) {
    if let room = app.client.room(id) { entries[id]?.update(room) }
    if !filter.utf8.isEmpty, aspects.contains(.name) { reorder() }
  }

  func membersChanged(_ id: RoomID) {
    if let room = app.client.room(id) { entries[id]?.update(room) }
  }

  // MARK: Order

  /// Follows `Client.roomIDs`: makes and releases entries, moves the few that stand elsewhere.
  func reorder() {
    let wanted = app.client.roomIDs.filter(matches)
    let kept = Set(wanted)
    for id in shown where !kept.contains(id) {
      if let entry = entries.removeValue(forKey: id) { dom.release(entry.node) }
    }
    shown.removeAll { !kept.contains($0) }
    for (index, id) in wanted.enumerated() {
      if index < shown.count, shown[index] == id { continue }
      let before = index < shown.count ? entries[shown[index]]?.node : nil
      if let entry = entries[id] {
        shown.removeAll { $0 == id }
        place(entry.node, before)
      } else if let room = app.client.room(id) {
        let entry = RoomListEntry(app, room)
        entries[id] = entry
        entry.setSelected(id == selected)
        place(entry.node, before)
      }
      shown.insert(id, at: min(index, shown.count))
    }
    dom.setFlag(filterBox, "hidden", app.client.roomIDs.count < RoomList.filterFrom && filter.utf8.isEmpty)
    showEmptiness()
  }

  private func place(_ entry: Node, _ before: Node?) {
    if let before { dom.insert(entry, into: scroller, before: before) } else { dom.append(entry, to: scroller) }
  }

  private func matches(_ id: RoomID) -> Bool {
    filter.utf8.isEmpty
      || (app.client.room(id).map { Strings.words(for: $0.name).asciiLowercased.hasBytes(of: filter) } ?? false)
  }

  private func showEmptiness() {
    dom.setFlag(empty, "hidden", !shown.isEmpty)
    dom.setFlag(scroller, "hidden", shown.isEmpty)
    let isFiltered = !app.client.roomIDs.isEmpty
    var isLoading = false
    switch app.client.connection {
    case .connecting, .firstSync: isLoading = true
    case .idle, .running, .reconnecting, .offline: break
    }
    dom.setText(emptyTitle, isFiltered ? Strings[.noMatch] : isLoading ? Strings[.loadingRooms] : Strings[.noRooms])
    dom.setText(emptyNote, isFiltered || isLoading ? "" : Strings[.noRoomsNote])
    dom.setFlag(emptyButton, "hidden", isFiltered || isLoading)
  }

  /// Called when the first sync is over, also where it brought no room.
  func connectionChanged() { if shown.isEmpty { showEmptiness() } }

  private func pressed(_ event: PageEvent) -> EventReply {
    let step: Int
    switch event.key {
    case .arrowDown: step = 1
    case .arrowUp: step = -1
    default: return .pass
    }
    guard let index = shown.firstIndex(where: { entries[$0]?.button == event.node }) else { return .pass }
    let next = index + step
    guard shown.indices.contains(next), let entry = entries[shown[next]] else { return .pass }
    dom.focus(entry.button)
    dom.flush()
    return .preventDefault
  }
}
