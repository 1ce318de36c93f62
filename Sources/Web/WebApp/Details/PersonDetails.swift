import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs
import WebHost

/// The other person of a direct chat: who it is, whether they are there, the rooms both are in, and what can be done about them.
final class PersonDetails<D: DOM> {
  /// Rooms in common that are listed.
  private static var roomsLimit: Int { 8 }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private let avatar: AvatarView<D>
  private var name: TextView<D>
  private var presence: TextView<D>
  private let trust: TrustLine<D>
  private let address: Node
  private let common: Node
  private let block: Node
  private var shown: Shown?
  private var user: UserID?

  /// What the parts that are made anew were made from.
  private struct Shown: Equatable {
    let user: UserID
    let rooms: [RoomID]
    let isBlocked: Bool
  }

  /// - Parameter end: gets what is rarely done, below all else.
  init(_ app: App<D>, in parent: Node, end: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-details-part", in: parent)
    let top = dom.element("div", "ma-profile", in: node)
    avatar = dom.avatar("ma-avatar-large", in: top)
    name = TextView(dom, "h3", "ma-details-name", in: top)
    presence = TextView(dom, "p", "ma-note", in: top)
    trust = app.verifications.trustLine(in: node)
    address = dom.element("div", in: node)
    common = dom.element("div", "ma-section ma-people", in: node)
    block = dom.button("ma-line ma-line-danger", in: end)
    dom.on(block, .click) { [self] _ in toggleBlock() }
  }

  /// - Parameter state: of a direct chat; nil hides this.
  func update(_ state: Room?) {
    user = state?.directUserID
    dom.setFlag(node, "hidden", user == nil)
    dom.setFlag(block, "hidden", user == nil)
    guard let state, let user else { return }
    let title = Strings.words(for: state.name)
    avatar.show(id: user.string, name: title, source: app.avatarSource(state.avatar(of: user) ?? state.avatar))
    name.set(title)
    presence.set(app.client.presence(of: user).map { Strings.words(for: $0) } ?? "")
    let rooms = app.client.roomIDs.filter { id in
      guard id != state.id, let room = app.client.room(id), room.membership == .join, !room.isDirect else { return false }
      return room.membership(of: user) == .join
    }
    let new = Shown(user: user, rooms: rooms, isBlocked: app.client.ignoredUsers.contains(user))
    guard new != shown else { return }
    if shown?.user != user {
      dom.releaseChildren(of: address)
      CopyLine(app, .userID, user.string, in: address)
      trust.show(user.text, name: title)
    }
    shown = new
    showRooms(rooms)
    dom.releaseChildren(of: block)
    Drawing.eyeOff.draw(dom, in: block)
    dom.element("span", text: new.isBlocked ? .stopIgnoring : .ignoreUser, in: block)
  }

  func trustChanged() { if user != nil { trust.refresh() } }

  private func showRooms(_ rooms: [RoomID]) {
    dom.releaseChildren(of: common)
    dom.setFlag(common, "hidden", rooms.isEmpty)
    guard !rooms.isEmpty else { return }
    dom.element("h4", "ma-field-label", text: Strings[.roomsInCommon, count: rooms.count], in: common)
    for id in rooms.prefix(Self.roomsLimit) {
      guard let room = app.client.room(id) else { continue }
      let line = dom.button("ma-member", in: common)
      dom.fill(
        line, id: id.string, Strings.words(for: room.name), Strings[.members, count: room.joinedMemberCount],
        source: app.avatarSource(room.avatar))
      dom.on(line, .click) { [app] _ in app.goTo(.room(id)) }
    }
  }

  private func toggleBlock() {
    guard let user, let shown else { return }
    app.askOrSay(.people(.setIgnored(user, !shown.isBlocked)))
  }
}
