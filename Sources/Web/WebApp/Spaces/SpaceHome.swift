import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What a space opens: what it is, who is in it, and its rooms, to open or to join.
final class SpaceHome<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  /// Takes the focus when the space is opened, so that a screen reader says which.
  private let title: Node
  private let avatar: AvatarView<D>
  private var name: TextView<D>
  private var about: TextView<D>
  private var topic: TextView<D>
  private let invite: Node
  private let add: Node
  private let rooms: Node
  private var directory: RoomDirectory<D>?
  private var space: RoomID?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-space", in: parent)
    let header = dom.element("header", "ma-header ma-space-header", in: node)
    let back = dom.button("ma-round ma-back", icon: .back, label: .back, in: header)
    let page = dom.element("div", "ma-space-page", in: dom.element("div", "ma-space-scroller", in: node))
    let top = dom.element("div", "ma-space-top", in: page)
    avatar = dom.avatar("ma-avatar-large", in: top)
    let lines = dom.element("div", "ma-space-lines", in: top)
    name = TextView(dom, "h2", "ma-title", in: lines)
    title = name.node
    dom.setAttribute(title, "tabindex", "-1")
    about = TextView(dom, "p", "ma-note", in: lines)
    topic = TextView(dom, "p", "ma-topic", in: page)
    let buttons = dom.element("div", "ma-space-buttons", in: page)
    invite = dom.button("ma-button ma-primary", .invite, icon: .people, in: buttons)
    add = dom.button("ma-button", .addRoom, icon: .plus, in: buttons)
    let details = dom.button("ma-button", .details, icon: .info, in: buttons)
    dom.element("h3", "ma-space-heading", text: .rooms, in: page)
    rooms = dom.element("div", "ma-form", in: page)
    dom.setFlag(node, "hidden", true)
    dom.on(back, .click) { _ in app.goTo(.list) }
    dom.on(invite, .click) { [self] _ in if let space { app.openInvite(to: space) } }
    dom.on(add, .click) { [self] _ in openAddMenu() }
    dom.on(details, .click) { [self] _ in
      if let space { app.goTo(app.place.showsDetails ? .room(space) : .details(space)) }
    }
  }

  /// - Parameter id: of a space one is in; nil hides this.
  func show(_ id: RoomID?) {
    dom.setFlag(node, "hidden", id == nil)
    guard id != space else { return update() }
    space = id
    directory?.close()
    directory = nil
    dom.releaseChildren(of: rooms)
    guard let id else { return }
    directory = RoomDirectory(app, .space(id), at: rooms)
    directory?.setHidden(false)
    update()
    dom.focus(title)
  }

  /// It is set up otherwise, or has other rooms.
  func update() {
    guard let id = space, let room = app.client.room(id) else { return }
    let words = Strings.words(for: room.name)
    avatar.show(id: id.string, name: words, source: app.avatarSource(room.avatar))
    name.set(words)
    let kind = Strings[room.joinRule == .public ? .publicSpace : .privateSpace]
    about.set(Strings[.members, count: room.joinedMemberCount] + " · " + kind)
    topic.set(room.topic?.string ?? "")
    dom.setFlag(invite, "hidden", !app.may(.invite, in: id))
    dom.setFlag(add, "hidden", !app.may(.sendState(.spaceChild), in: id))
    directory?.followSpace()
  }

  private func openAddMenu() {
    guard let space else { return }
    app.dialogs.open(as: .menu) { [app] frame in
      let menu = Menu(Strings[.addRoom], in: frame)
      menu.add(.newRoom, .plus) { app.dialogs.open(.more) { NewDialog(app, space: space, in: $0) } }
      menu.add(.existingRoom, .hash) { app.dialogs.open(.more) { AddRoomsDialog(app, to: space, in: $0) } }
    }
  }
}
