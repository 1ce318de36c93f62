import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The user's invite links: where each leads, how often it was used, until when it works, and its end.
final class InviteLinksPage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let list: Node
  private let note: Node
  private let again: MoreButton<D>

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    let box = dom.element("div", in: page)
    list = dom.element("div", "ma-directory", in: page)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .inviteLinks)
    note = frame.trouble(in: page)
    again = MoreButton(dom, busy: .loadingLinks, in: page)
    again.onPress = { [self] in load() }
    InviteLinkBox(app, to: nil, in: frame, at: box) { [self] in load() }
    load()
  }

  private func load() {
    dom.setText(note, again.isShown ? "" : Strings[.loadingLinks])
    again.begin()
    app.ask(.inviteLinks()) { [self] result in
      guard frame.isOpen else { return }
      dom.releaseChildren(of: list)
      switch result {
      case .failure(let error) where !error.isUnknownLink:
        dom.setText(note, Strings.words(for: error))
        again.fail()
      case .failure:
        dom.setText(note, .noInviteLinks)
        again.end(hasMore: false)
      case .success(let links):
        again.end(hasMore: false)
        dom.setText(note, links.isEmpty ? Strings[.noInviteLinks] : "")
        for link in links { add(link) }
      }
      dom.flush()
    }
    dom.flush()
  }

  private func add(_ link: InviteLink) {
    let line = dom.element("div", "ma-listed ma-device", in: list)
    dom.setAttribute(line, "role", "listitem")
    let known = link.room.flatMap { app.client.room($0) }.map { Strings.words(for: $0.name) }
    let name = link.room == nil ? Strings[.linkToYou] : known ?? link.roomName?.string ?? link.room?.string ?? ""
    let lines = dom.element("div", "ma-entry-lines", in: line)
    dom.setAttribute(dom.element("span", "ma-entry-name", text: name, in: lines), "dir", "auto")
    let used = Strings[.linkUsed, "\(link.uses)", "\(link.usesAllowed)"]
    dom.element("span", "ma-entry-preview", text: used + " · " + until(link), in: lines)
    let revoke = dom.button("ma-button ma-small ma-danger", .revoke, in: line)
    dom.setLabel(revoke, Strings[.revoke, of: name])
    dom.on(revoke, .click) { [self] _ in end(link) }
  }

  private func until(_ link: InviteLink) -> String {
    if link.expires <= Host.wallClockMilliseconds() { return Strings[.linkExpired] }
    if link.uses >= link.usesAllowed { return Strings[.linkUsedUp] }
    return Strings[.linkUntil, Host.dateTimeLabel(link.expires)]
  }

  private func end(_ link: InviteLink) {
    dom.setText(note, "")
    app.ask(.revokeInviteLink(link.id)) { [self] result in
      guard frame.isOpen else { return }
      if case .failure(let error) = result, !error.isUnknownLink {
        dom.setText(note, Strings.words(for: error))
        return dom.flush()
      }
      app.keptLinks.removeAll { $0.id == link.id }
      app.notices.show(.linkRevoked)
      load()
    }
  }
}
