import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Who invites, and to what: a picture, the name, the topic, how many are there. Names are other people's words; the user ID
/// beside the inviter's name is what nobody else can have.
struct InviteCard<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  /// The element of its heading.
  private let heading: String

  init(_ app: App<D>, heading: String, in parent: Node) {
    self.app = app
    self.heading = heading
    dom = app.dom
    node = dom.element("div", "ma-invite", in: parent)
    dom.setAttribute(node, "role", "status")
  }

  /// - Parameter retry: what *Try again* does; nil offers nothing.
  func say(_ text: String, retry: (() -> Void)? = nil) {
    dom.releaseChildren(of: node)
    dom.element("p", "ma-note", text: text, in: node)
    guard let retry else { return }
    dom.on(dom.button("ma-button", .retry, in: node), .click) { _ in retry() }
  }

  func show(_ invitation: LinkInvitation) {
    let inviter = invitation.shownInviter
    guard let room = invitation.room else {
      let id = invitation.inviter.string
      show(
        id: id, isRoom: false, name: inviter, picture: invitation.inviterAvatar,
        lines: [Strings[.invitedToChat, inviter]] + (inviter.hasSameBytes(as: id) ? [] : [id]), topic: nil)
      return
    }
    show(
      id: room.name?.string ?? "", isRoom: true, name: room.shownName, picture: room.avatar,
      lines: [
        Strings[.linkInvites, invitation.inviterWithID],
        Strings[.members, count: room.memberCount]
      ], topic: room.topic)
  }

  func show(_ room: RoomSummary) {
    let name = room.name.map { ShownName.visible($0) }.flatMap { $0.isEmpty ? nil : $0.string } ?? room.title
    let address = room.canonicalAlias.map { [$0.string] } ?? []
    show(
      id: room.id.string, isRoom: true, name: name, picture: room.avatar,
      lines: address + [Strings[.members, count: room.memberCount]], topic: room.topic)
  }

  private func show(id: String, isRoom: Bool, name: String, picture: MediaURI?, lines: [String], topic: ByteString?) {
    dom.releaseChildren(of: node)
    // Pictures are for people with an account.
    let source = app.client.session == nil ? nil : app.avatarSource(picture)
    dom.avatar(isRoom ? "ma-avatar-large ma-invite-room" : "ma-avatar-large", in: node).show(id: id, name: name, source: source)
    let title = dom.element(heading, "ma-invite-name", text: name, in: node)
    dom.setAttribute(title, "dir", "auto")
    for line in lines { dom.setAttribute(dom.element("p", "ma-note", text: line, in: node), "dir", "auto") }
    if let topic, !topic.isEmpty {
      dom.setAttribute(dom.element("p", "ma-invite-topic", text: topic.string, in: node), "dir", "auto")
    }
    dom.flush()
  }
}

extension LinkInvitation {
  /// The name, unless it could be taken for another's or shows nothing: then the user ID.
  fileprivate var shownInviter: String {
    guard let inviterName, !ShownName.isMisleading(inviterName, of: inviter) else { return inviter.string }
    let visible = ShownName.visible(inviterName)
    return visible.isEmpty ? inviter.string : visible.string
  }
}

extension LinkInvitation {
  fileprivate var inviterWithID: String {
    let name = shownInviter
    return name.hasSameBytes(as: inviter.string) ? name : Strings[.linkInvitesAs, name, inviter.string]
  }
}

extension LinkInvitation.Room {
  fileprivate var shownName: String {
    let visible = name.map { ShownName.visible($0) }
    return visible.flatMap { $0.isEmpty ? nil : $0.string } ?? Strings[isSpace ? .space : .plainRoom]
  }
}
