import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// One line of the list: picture, name, time, what was said last, how much is unread.
final class RoomListEntry<D: DOM> {
  let id: RoomID
  let node: Node
  let button: Node
  private let app: App<D>
  private let dom: D
  private let more: Node
  private let avatar: AvatarView<D>
  private let presence: Node
  private let muted: Node
  private let inCall: Node
  private var shownPresence = Presence.offline
  private var name: TextView<D>
  private var time: TextView<D>
  private var prefix: TextView<D>
  private var preview: TextView<D>
  private var mention: TextView<D>
  private var badge: TextView<D>
  private var label = ""
  private var isSelected = false
  private var isServerNotice = false
  private var shownClass = ""

  init(_ app: App<D>, _ room: Room) {
    self.app = app
    id = room.id
    dom = app.dom
    node = dom.element("div", "ma-entry-item")
    dom.setAttribute(node, "role", "listitem")
    button = dom.button("ma-entry", in: node)
    let picture = dom.element("span", "ma-picture", in: button)
    avatar = dom.avatar("ma-avatar-entry", in: picture)
    presence = dom.element("span", "ma-presence", in: picture)
    dom.setFlag(presence, "hidden", true)
    let lines = dom.element("span", "ma-entry-lines", in: button)
    let first = dom.element("span", "ma-entry-line", in: lines)
    name = TextView(dom, "span", "ma-entry-name", in: first)
    muted = dom.element("span", "ma-entry-sign", in: first)
    Drawing.muted.draw(dom, in: muted)
    time = TextView(dom, "span", "ma-entry-time", in: first)
    let second = dom.element("span", "ma-entry-line", in: lines)
    prefix = TextView(dom, "span", "ma-entry-sender", in: second)
    // By its own direction: a text whose letters run the other way is cut at its end too.
    preview = TextView(dom, "span", "ma-entry-preview", in: second)
    inCall = dom.element("span", "ma-entry-sign ma-entry-call", in: second)
    Drawing.phone.draw(dom, in: inCall)
    for node in [name.node, preview.node] { dom.setAttribute(node, "dir", "auto") }
    badge = TextView(dom, "span", "ma-badge", in: second)
    mention = TextView(dom, "span", "ma-badge ma-at", in: second)
    more = dom.button("ma-round ma-round-small ma-entry-more", icon: .more, in: node)
    setCurrent(false)
    // For the page that keeps the list (kept-list.js).
    dom.setAttribute(button, "data-room", id.string)
    let id = room.id
    dom.on(button, .click) { _ in app.goTo(.room(id)) }
    dom.on(more, .click) { _ in app.dialogs.open(.more, as: .menu) { RoomMenu(app, id, in: $0) } }
    dom.listen(button, .contextMenu) { _ in
      app.dialogs.open(.more, as: .menu) { RoomMenu(app, id, in: $0) }
      return .preventDefault
    }
    update(room)
  }

  /// Whether the Tab key comes to this one; within the list the arrows go on.
  func setCurrent(_ isCurrent: Bool) {
    for button in [button, more] { dom.setAttribute(button, "tabindex", isCurrent ? "0" : "-1") }
  }

  func setSelected(_ isSelected: Bool) {
    guard isSelected != self.isSelected else { return }
    self.isSelected = isSelected
    if isSelected {
      dom.setAttribute(button, "aria-current", "true")
    } else {
      dom.removeAttribute(button, dom.atom("aria-current"))
    }
    if let room = app.client.room(id) { update(room) }
  }

  func update(_ room: Room) {
    let title = Strings.words(for: room.name)
    avatar.show(id: room.directUserID?.string ?? room.id.string, name: title, source: app.avatarSource(room.avatar))
    name.set(title)
    if room.isServerNotice != isServerNotice {
      isServerNotice = room.isServerNotice
      if isServerNotice {
        dom.setAttribute(name.node, "data-role", Strings[.fromServer])
      } else {
        dom.removeAttribute(name.node, dom.atom("data-role"))
      }
    }
    let activity = room.lastActivityMilliseconds
    time.set(activity > 0 ? Host.shortLabel(activity) : "")
    showPreview(room)
    let isInvite = room.membership == .invite
    let count = room.notificationCount
    badge.set(isInvite ? Strings[.invitation] : count > 0 ? Self.number(count) : "")
    mention.set(room.highlightCount > 0 && !isInvite ? "@" : "")
    dom.setFlag(muted, "hidden", room.membership != .join || app.client.notificationMode(of: id) != .mute)
    dom.setFlag(inCall, "hidden", room.callUsers.isEmpty)
    showPresence(room)
    showClass(room)
    showLabel(title, room)
  }

  func presenceChanged(_ users: [UserID]) {
    guard let room = app.client.room(id), let user = room.directUserID, users.contains(user) else { return }
    showPresence(room)
  }

  /// Of the other person of a direct chat: there, or away.
  private func showPresence(_ room: Room) {
    let now = room.directUserID.flatMap { app.client.presence(of: $0)?.presence } ?? .offline
    guard now != shownPresence else { return }
    shownPresence = now
    dom.setFlag(presence, "hidden", now == .offline)
    dom.setClass(presence, now == .online ? "ma-presence" : "ma-presence ma-away")
  }

  /// As a badge has it.
  static func number(_ count: Int) -> String { count > 99 ? "99+" : "\(count)" }

  private func showClass(_ room: Room) {
    var classes = "ma-entry"
    if isSelected { classes += " ma-selected" }
    if room.membership != .join { classes += " ma-outside" } else if room.isUnread { classes += " ma-unread" }
    if !room.typing.isEmpty { classes += " ma-typing" } else if !isSelected, !room.draft.isEmpty { classes += " ma-drafted" }
    guard !classes.hasSameBytes(as: shownClass) else { return }
    shownClass = classes
    dom.setClass(button, classes)
  }

  private func showLabel(_ title: String, _ room: Room) {
    var words = title
    if room.isServerNotice { words += ", " + Strings[.fromServer] }
    if room.membership == .invite {
      words += ", " + Strings[.invitation]
    } else {
      if room.notificationCount > 0 {
        words += ", " + Strings[.unread, count: room.notificationCount]
      } else if room.isMarkedUnread {
        words += ", " + Strings[.markedUnread]
      }
      if room.highlightCount > 0 { words += ", " + Strings[.mentions, count: room.highlightCount] }
    }
    guard !words.hasSameBytes(as: label) else { return }
    label = words
    dom.setLabel(button, words)
    dom.setLabel(more, Strings[.optionsOf, title])
  }

  private func showPreview(_ room: Room) {
    let (prefix, text) = previewText(room)
    self.prefix.set(prefix)
    preview.set(text)
    // For kept-list.js: what is encrypted is not kept where it could be read.
    dom.setFlag(preview.node, "data-private", room.isEncrypted)
  }

  /// What was said last, and who or what it is from.
  private func previewText(_ room: Room) -> (prefix: String, text: String) {
    if room.membership == .invite {
      return ("", Strings.invitation(to: room))
    }
    if room.membership == .knock { return ("", Strings[.waitingForAnswer]) }
    if room.typing.count > 1 { return ("", Strings[.severalTyping]) }
    if let writer = room.typing.first {
      let name = room.isDirect ? "" : Strings.firstName(room.displayName(of: writer).string)
      return (name, Strings[.typingShort])
    }
    if !isSelected, !room.draft.isEmpty { return (Strings[.draft, ""].trimmed, room.draft.string) }
    // What is not shown is no sign that nothing was said.
    guard let preview = room.preview else { return ("", room.hidesPreview ? "" : Strings[.noMessages]) }
    guard let content = preview.content else {
      return ("", Strings[preview.isUndecryptable ? .encryptedMessage : .removedMessage])
    }
    return (Strings.prefix(of: preview.sender, in: room, isOwn: preview.sender == app.userID), Strings.short(content))
  }
}
