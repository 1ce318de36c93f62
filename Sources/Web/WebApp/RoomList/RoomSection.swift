import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// One part of the list: a heading that folds it, its first rooms, and a button for more of them.
final class RoomSection<D: DOM> {
  let kind: RoomListSection
  private(set) var rooms: [RoomID] = []
  private(set) var isFolded: Bool
  private let dom: D
  let node: Node
  /// Rooms of further pages.
  private(set) var hasMore = false
  /// Called for the next page.
  var onMore: () -> Void = {}
  private let more: Node
  private let button: Node
  private let list: Node
  private var badge: TextView<D>

  init(_ dom: D, _ kind: RoomListSection, in parent: Node) {
    self.dom = dom
    self.kind = kind
    isFolded = Host.setting(RoomSection.setting(kind)) != nil
    node = dom.element("section", "ma-section-rooms", in: parent)
    let heading = dom.element("h2", "ma-section-title", in: node)
    button = dom.button("ma-section-button", RoomSection.title(of: kind), in: heading)
    Drawing.fold.draw(dom, in: button)
    badge = TextView(dom, "span", "ma-badge", in: button)
    list = dom.element("div", in: node)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, RoomSection.title(of: kind))
    more = dom.button("ma-button ma-wide", .showMore, in: node)
    dom.setLabel(more, Strings[.showMore, of: RoomSection.title(of: kind)])
    dom.on(more, .click) { [self] _ in onMore() }
    dom.setFlag(heading, "hidden", kind == .all)
    if kind == .all { isFolded = false }
    dom.on(button, .click) { [self] _ in fold(!isFolded) }
    show()
  }

  /// What the person sees of it, from the top.
  var visibleRooms: [RoomID] { isFolded ? [] : rooms }

  func insert(_ entry: RoomListEntry<D>, at index: Int, before next: RoomListEntry<D>?) {
    rooms.insert(entry.id, at: min(index, rooms.count))
    if let next { dom.insert(entry.node, into: list, before: next.node) } else { dom.append(entry.node, to: list) }
    if rooms.count == 1 { show() }
  }

  func remove(_ id: RoomID, at index: Int) {
    if rooms.indices.contains(index), rooms[index] == id { rooms.remove(at: index) } else { rooms.removeAll { $0 == id } }
    if rooms.isEmpty { show() }
  }

  func clear() {
    rooms = []
    show()
  }

  func release() { dom.release(node) }

  func setHasMore(_ hasMore: Bool) {
    self.hasMore = hasMore
    show()
  }

  /// The unread messages of the rooms that cannot be seen while it is folded.
  func showCount(_ count: Int) { badge.set(isFolded && count > 0 ? RoomListEntry<D>.number(count) : "") }

  /// Called when the person folded or unfolded it.
  var onFold: () -> Void = {}

  private func fold(_ isFolded: Bool) {
    self.isFolded = isFolded
    Host.setSetting(RoomSection.setting(kind), isFolded ? "1" : nil)
    show()
    onFold()
    dom.flush()
  }

  private func show() {
    dom.setFlag(node, "hidden", rooms.isEmpty)
    dom.setFlag(list, "hidden", isFolded)
    dom.setFlag(more, "hidden", isFolded || !hasMore)
    dom.setAttribute(button, "aria-expanded", isFolded ? "false" : "true")
  }

  private static func setting(_ kind: RoomListSection) -> String { "folded/\(kind.rawValue)" }

  private static func title(of kind: RoomListSection) -> String {
    switch kind {
    case .invites: Strings[.invitations]
    case .knocks: Strings[.askedToJoin]
    case .favourites: Strings[.favourites]
    case .people: Strings[.people]
    case .lowPriority: Strings[.lowPriority]
    case .spaces: Strings[.spaces]
    case .left: Strings[.leftRooms]
    case .rooms, .serverNotices, .all: Strings[.rooms]
    }
  }
}
