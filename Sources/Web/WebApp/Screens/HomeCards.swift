import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// What can be done where no conversation is there yet: a card for each. They stand in the empty list on a phone, in the empty pane on a desk.
final class HomeCards<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let invite: Node
  private let find: Node

  @discardableResult
  init(_ app: App<D>, in parent: Node) {
    self.app = app
    let dom = app.dom
    self.dom = dom
    let list = dom.element("div", "ma-home-cards", in: parent)
    Self.card(dom, .homeChat, .homeChatNote, .chat, in: list) { app.dialogs.open(.more) { NewDialog(app, in: $0) } }
    Self.card(dom, .homeRoom, .homeRoomNote, .people, in: list) { app.dialogs.open(.more) { NewDialog(app, .room, in: $0) } }
    invite = Self.card(dom, .homeInvite, .homeInviteNote, .link, in: list) {
      app.dialogs.open { frame in
        frame.setTitle(.homeInvite)
        InviteLinkBox(app, to: nil, in: frame, at: frame.body)
      }
    }
    find = Self.card(dom, .homeFind, .homeFindNote, .globe, in: list) {
      app.dialogs.open(.more) { NewDialog(app, .join, in: $0) }
    }
    for card in [invite, find] { dom.setFlag(card, "hidden", true) }
    learn()
  }

  /// Offers only what works here: links if the user may make some, public rooms if there are any.
  private func learn() {
    let main = app.main
    app.ask(.capabilities()) { [self] result in
      guard app.main === main else { return }
      if case .success(let found) = result, found.inviteLinks != nil { dom.setFlag(invite, "hidden", false) }
    }
    app.ask(.publicRooms(limit: 1)) { [self] result in
      guard app.main === main else { return }
      if case .success(let page) = result, !page.rooms.isEmpty { dom.setFlag(find, "hidden", false) }
    }
  }

  @discardableResult
  private static func card(
    _ dom: D, _ name: Strings.Key, _ note: Strings.Key, _ icon: Drawing, in parent: Node, _ open: @escaping () -> Void
  ) -> Node {
    let card = dom.element("button", "ma-home-card", in: parent)
    dom.setAttribute(card, "type", "button")
    icon.draw(dom, in: dom.element("span", "ma-home-sign", in: card))
    let lines = dom.element("span", "ma-entry-lines", in: card)
    dom.element("span", "ma-home-name", text: name, in: lines)
    dom.element("span", "ma-home-note", text: note, in: lines)
    dom.on(card, .click) { _ in open() }
    return card
  }
}
