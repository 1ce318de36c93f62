import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// All users of the server by pages, for somebody who has no name to begin with; empty where the server has no such pages (`martlet.paging`).
final class PeopleDirectory<D: DOM> {
  private static var pageUsers: Int { 50 }
  /// As near to the end the next page is fetched.
  private static var nearPixels: Double { 300 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let others: Set<UserID>
  private let chosen: (UserID) -> Void
  private let title: Node
  private let list: Node
  private let more: MoreButton<D>
  private var next: ByteString?
  /// The Tab key comes to one of them, arrows lead to the others.
  private var buttons: [Node] = []

  /// The first of each name that was listed.
  private var bearers: [ByteString: (person: PeopleFinder.Person, button: Node)] = [:]

  /// - Parameter others: who stand elsewhere already, and are left out.
  @discardableResult
  init(
    _ app: App<D>, except others: [UserID], in frame: DialogFrame<D>, at node: Node, _ chosen: @escaping (UserID) -> Void
  ) {
    self.app = app
    self.frame = frame
    self.others = Set(others)
    self.chosen = chosen
    dom = app.dom
    title = dom.element("h3", "ma-field-label", text: .peopleOnServer, in: node)
    dom.setFlag(title, "hidden", true)
    list = dom.element("div", "ma-members", in: node)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .people)
    more = MoreButton(dom, busy: .loadingPeople, in: node)
    dom.listen(list, .keyDown) { [self] in pressed($0) }
    more.onPress = { [self] in load(movesFocus: true) }
    dom.on(frame.body, .scroll) { [self] event in
      guard next != nil else { return }
      let height = dom.measure([list]).first ?? 0
      if height > 0, event.x + event.y + Self.nearPixels > Double(height) { loadMore() }
    }
    if app.client.offeredExtensions?.contains(.paging) ?? false { load() }
  }

  private func loadMore(movesFocus: Bool = false) { if next != nil, !more.isBusy { load(movesFocus: movesFocus) } }

  /// - Parameter movesFocus: to the first of the page, for the button may be gone then.
  private func load(movesFocus: Bool = false) {
    more.begin()
    app.ask(.users(limit: Self.pageUsers, from: next)) { [self] result in
      guard frame.isOpen else { return }
      guard case .success(let page) = result else { return more.fail() }
      var first: Node?
      for user in page.members where user.userID != app.userID && !others.contains(user.userID) {
        let button = add(PeopleFinder.Person(user.userID, name: user.displayName, avatar: user.avatar))
        first = first ?? button
      }
      if movesFocus, let first { dom.focus(first) }
      next = page.nextBatch
      more.end(hasMore: next != nil)
    }
    dom.flush()
  }

  private func add(_ person: PeopleFinder.Person) -> Node {
    if buttons.isEmpty { dom.setFlag(title, "hidden", false) }
    let item = dom.element("div", in: list)
    dom.setAttribute(item, "role", "listitem")
    let button = dom.button("ma-member", in: item)
    let other = bearers[person.visibleName]
    fill(button, person, withID: other != nil)
    if let other {
      dom.releaseChildren(of: other.button)
      fill(other.button, other.person, withID: true)
    } else {
      bearers[person.visibleName] = (person, button)
    }
    dom.on(button, .click) { [self] _ in chosen(person.userID) }
    if !buttons.isEmpty { dom.setAttribute(button, "tabindex", "-1") }
    buttons.append(button)
    return button
  }

  /// The ID tells people of one name apart.
  private func fill(_ button: Node, _ person: PeopleFinder.Person, withID: Bool) {
    let id = person.userID.string
    dom.fill(button, id: id, person.name.string, withID ? id : nil, source: app.avatarSource(person.avatar))
  }

  private func pressed(_ event: PageEvent) -> EventReply {
    guard let at = buttons.firstIndex(of: event.node), let to = event.place(from: at, of: buttons.count) else { return .pass }
    dom.setAttribute(buttons[at], "tabindex", "-1")
    dom.setAttribute(buttons[to], "tabindex", "0")
    dom.focus(buttons[to])
    dom.flush()
    return .preventDefault
  }
}
