import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Goes to a room or person by a few letters. Source: ARIA Authoring Practices, "Combobox".
final class QuickSwitcher<D: DOM> {
  private static var list: RoomListID { 2 }
  private static var roomsLimit: Int { 12 }
  private static var peopleLimit: Int { 6 }
  /// Typing goes on within this time mostly; then the server is not asked yet.
  private static var pauseMilliseconds: Double { 200 }

  private enum Target {
    case room(RoomID)
    case user(UserID)
  }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let field: Node
  private let list: Node
  private let note: Node
  private var targets: [(target: Target, node: Node)] = []
  private var active = 0
  private var words = ""
  /// Counts what was typed: an answer to something else comes too late.
  private var version = 0
  private var isBusy = false

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(.goToConversation, look: "ma-switcher")
    field = dom.finder(.roomOrPerson, in: frame.body)
    for (name, value) in [
      ("role", "combobox"), ("aria-expanded", "true"), ("aria-controls", "ma-targets"), ("aria-autocomplete", "list")
    ] { dom.setAttribute(field, name, value) }
    list = dom.element("div", "ma-targets", in: frame.body)
    dom.setAttribute(list, "id", "ma-targets")
    dom.setAttribute(list, "role", "listbox")
    dom.setLabel(list, .goToConversation)
    note = frame.trouble(in: frame.body)
    frame.setFirst(field)
    dom.on(field, .input) { [self] in typed($0.text.trimmed) }
    dom.listen(field, .keyDown) { [self] in pressed($0) }
    show()
  }

  private func typed(_ text: String) {
    words = text
    version += 1
    dom.setText(note, "")
    show()
    dom.flush()
    let asked = version
    guard !text.utf8.isEmpty else { return }
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in if asked == version, frame.isOpen { search() } }
  }

  // MARK: What fits

  private func show() {
    dom.releaseChildren(of: list)
    targets = []
    active = 0
    app.ask(.roomList(.open(Self.list, .search(ByteString(words), pageSize: Self.roomsLimit))))
    for id in app.client.roomList(Self.list)?.rooms(in: .all) ?? [] {
      if let room = app.client.room(id) { add(room) }
    }
    app.ask(.roomList(.close(Self.list)))
    if let user = UserID(words), user != app.userID { add(user, name: Strings[.startChatWith, words], avatar: nil) }
    mark()
  }

  private func search() {
    let asked = version
    app.ask(.searchUsers(ByteString(words), limit: Self.peopleLimit)) { [self] result in
      guard asked == version, frame.isOpen, case .success(let found) = result else { return }
      let known = targets.map { $0.target }
      for user in found.users where user.id != app.userID && !known.contains(where: { isAbout($0, user.id) }) {
        add(user.id, name: Member.shownName(user.displayName, of: user.id).string, avatar: user.avatar)
      }
      mark()
    }
  }

  private func isAbout(_ target: Target, _ user: UserID) -> Bool {
    switch target {
    case .room(let id): app.client.room(id)?.directUserID == user
    case .user(let other): other == user
    }
  }

  private func add(_ room: Room) {
    let title = Strings.words(for: room.name)
    let count = room.notificationCount
    let detail = room.directUserID?.string ?? room.canonicalAlias?.string
    let node = add(
      .room(room.id), id: room.directUserID?.string ?? room.id.string, title, detail, app.avatarSource(room.avatar))
    if count > 0 { dom.element("span", "ma-badge", text: RoomListEntry<D>.number(count), in: node) }
  }

  private func add(_ user: UserID, name: String, avatar: MediaURI?) {
    add(.user(user), id: user.string, name, user.string, app.avatarSource(avatar))
  }

  @discardableResult
  private func add(_ target: Target, id: String, _ title: String, _ detail: String?, _ source: String?) -> Node {
    let node = dom.element("div", "ma-target", in: list)
    let index = targets.count
    dom.setAttribute(node, "role", "option")
    dom.setAttribute(node, "id", "ma-target-\(index)")
    dom.fill(node, id: id, title, detail, source: source)
    targets.append((target, node))
    dom.on(node, .click) { [self] _ in choose(index) }
    return node
  }

  // MARK: Choosing

  private func mark() {
    for (index, target) in targets.enumerated() {
      dom.setAttribute(target.node, "aria-selected", index == active ? "true" : "false")
    }
    if targets.isEmpty {
      dom.removeAttribute(field, dom.atom("aria-activedescendant"))
      if !words.utf8.isEmpty { dom.setText(note, .noMatch) }
    } else {
      dom.setText(note, "")
      dom.setAttribute(field, "aria-activedescendant", "ma-target-\(active)")
    }
  }

  private func pressed(_ event: PageEvent) -> EventReply {
    guard !event.modifiers.contains(.composing) else { return .pass }
    switch event.key {
    case .arrowDown where !targets.isEmpty: active = (active + 1) % targets.count
    case .arrowUp where !targets.isEmpty: active = (active + targets.count - 1) % targets.count
    case .enter:
      choose(active)
      return .preventDefault
    default: return .pass
    }
    mark()
    dom.flush()
    return .preventDefault
  }

  private func choose(_ index: Int) {
    guard targets.indices.contains(index), !isBusy else { return }
    switch targets[index].target {
    case .room(let id):
      frame.close()
      app.goTo(.room(id))
    case .user(let user):
      isBusy = true
      app.ask(.rooms(.openDirectChat(with: user.text))) { [self] result in
        isBusy = false
        switch result {
        case .room(let room):
          frame.close()
          app.goTo(.room(room))
        case .failed(let error): if frame.isOpen { dom.setText(note, Strings.words(for: error)) }
        default: frame.close()
        }
      }
      dom.flush()
    }
  }
}
