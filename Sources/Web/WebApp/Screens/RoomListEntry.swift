import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// One line of the list: picture, name, time, what was said last, how much is unread.
final class RoomListEntry<D: DOM> {
  let node: Node
  let button: Node
  private let app: App<D>
  private let dom: D
  private let avatar: AvatarView<D>
  private var name: TextView<D>
  private var time: TextView<D>
  private var preview: TextView<D>
  private var badge: TextView<D>
  private var isSelected = false
  private var shownClass = ""

  init(_ app: App<D>, _ room: Room) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-entry-item")
    dom.setAttribute(node, "role", "listitem")
    button = dom.button("ma-entry", in: node)
    avatar = dom.avatar("ma-avatar-entry", in: button)
    let lines = dom.element("span", "ma-entry-lines", in: button)
    let first = dom.element("span", "ma-entry-line", in: lines)
    name = TextView(dom, "span", "ma-entry-name", in: first)
    time = TextView(dom, "span", "ma-entry-time", in: first)
    let second = dom.element("span", "ma-entry-line", in: lines)
    preview = TextView(dom, "span", "ma-entry-preview", in: second)
    badge = TextView(dom, "span", "ma-badge", in: second)
    let id = room.id
    dom.on(button, .click) { _ in app.goTo(.room(id)) }
    update(room)
  }

  func setSelected(_ isSelected: Bool) {
    guard isSelected != self.isSelected else { return }
    self.isSelected = isSelected
    if isSelected {
      dom.setAttribute(button, "aria-current", "true")
    } else {
      dom.removeAttribute(button, dom.atom("aria-current"))
    }
    if let room = app.client.room(roomID) { update(room) }
  }

  private var roomID = RoomID(trusted: "")

  func update(_ room: Room) {
    roomID = room.id
    let title = Strings.words(for: room.name)
    avatar.show(id: room.directUserID?.string ?? room.id.string, name: title, source: app.avatarSource(room.avatar))
    name.set(title)
    let activity = room.lastActivityMilliseconds
    time.set(activity > 0 ? Host.shortLabel(activity) : "")
    preview.set(previewText(room))
    let isInvite = room.membership == .invite
    let count = room.notificationCount
    badge.set(isInvite ? Strings[.invitation] : count > 99 ? "99+" : count > 0 ? "\(count)" : "")
    var classes = "ma-entry"
    if isSelected { classes += " ma-selected" }
    if isInvite { classes += " ma-invited" } else if count > 0 { classes += " ma-unread" }
    if room.highlightCount > 0 { classes += " ma-mentioned" }
    if !room.typing.isEmpty { classes += " ma-typing" }
    if !classes.hasSameBytes(as: shownClass) {
      shownClass = classes
      dom.setClass(button, classes)
    }
    dom.setLabel(
      button,
      count > 0 && !isInvite
        ? title + ", " + Strings[.unread, count: count] : title + (isInvite ? ", " + Strings[.invitation] : ""))
  }

  private func previewText(_ room: Room) -> String {
    if room.membership == .invite {
      return room.inviter.map { Strings[.invitedBy, room.displayName(of: $0).string] } ?? Strings[.invitedBySomeone]
    }
    if room.typing.count > 1 { return Strings[.severalTyping] }
    if let writer = room.typing.first {
      return room.isDirect ? Strings[.typingShort] : room.displayName(of: writer).string + " " + Strings[.typingShort]
    }
    if !isSelected, !room.draft.isEmpty { return Strings[.draft, room.draft.string] }
    guard let preview = room.preview else { return Strings[.noMessages] }
    guard let content = preview.content else { return Strings[.removedMessage] }
    let text = Strings.short(content)
    if preview.sender == app.userID { return Strings[.you, text] }
    return room.isDirect ? text : room.displayName(of: preview.sender).string + ": " + text
  }
}
