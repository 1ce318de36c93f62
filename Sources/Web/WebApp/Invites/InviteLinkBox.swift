import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import QRCodes
import WebHost

/// A link to a room, or to the user: to copy, to show as a QR code, to share. It is made at the first of these and kept until
/// the page is left, so that each look at the box makes no further link.
final class InviteLinkBox<D: DOM> {
  private static var dayMilliseconds: Int64 { 86_400_000 }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let node: Node
  private let room: RoomID?
  private let onMade: () -> Void
  private var lifetime = InviteLinkBox.dayMilliseconds * 7
  private var uses: Int64 = 10
  private var result = Node.none
  private var trouble = Node.none
  private var qrButton = Node.none
  private var qrCode = Node.none
  private var isMaking = false

  /// - Parameters:
  ///   - room: nil for a link to the user.
  ///   - onMade: a new link was made.
  @discardableResult
  init(_ app: App<D>, to room: RoomID?, in frame: DialogFrame<D>, at parent: Node, onMade: @escaping () -> Void = {}) {
    self.app = app
    self.room = room
    self.frame = frame
    self.onMade = onMade
    dom = app.dom
    node = dom.element("section", "ma-invite-box", in: parent)
    dom.setFlag(node, "hidden", true)
    app.ask(.capabilities()) { [self] result in
      guard frame.isOpen else { return }
      if case .success(let found) = result, let limits = found.inviteLinks, mayInvite { draw(limits) } else { drawPublic() }
    }
  }

  private var mayInvite: Bool { room.map { app.may(.invite, in: $0) } ?? true }

  /// By the room's address, for those who may make no links.
  private func drawPublic() {
    guard let room, let state = app.client.room(room), state.joinRule == .public, let alias = state.canonicalAlias else {
      return
    }
    drawFrame(note: .anyoneWithLink)
    let url = app.inviteURL(.room(Permalink(.alias(alias))))
    addButtons { then in then(url) }
    dom.flush()
  }

  private func draw(_ limits: InviteLinkLimits) {
    drawFrame(note: room == nil ? .anyoneWithYourLink : .anyoneWithLink)
    lifetime = min(lifetime, limits.longestMilliseconds)
    uses = min(uses, limits.mostUses)
    let choices = dom.element("div", "ma-invite-choices", in: node)
    let days = ([1, 7, 30] as [Int64]).filter { $0 * Self.dayMilliseconds <= limits.longestMilliseconds }
    if days.count > 1 {
      Choice(
        dom, Strings[.linkLasts], days.map { ("\($0)", Strings[.linkDays, count: Int($0)]) },
        selected: "\(lifetime / Self.dayMilliseconds)", in: choices
      ) { [self] in if let days = Int64($0) { changed { lifetime = days * Self.dayMilliseconds } } }
    }
    let people = ([1, 10, 100, 1_000] as [Int64]).filter { $0 <= limits.mostUses }
    if people.count > 1 {
      Choice(
        dom, Strings[.linkPeople], people.map { ("\($0)", Strings[.linkPersons, count: Int($0)]) }, selected: "\(uses)",
        in: choices
      ) { [self] in if let people = Int64($0) { changed { uses = people } } }
    }
    addButtons { [self] then in make(then) }
    if let kept { show(kept) }
    dom.flush()
  }

  private func drawFrame(note: Strings.Key) {
    dom.setFlag(node, "hidden", false)
    dom.setLabel(node, .inviteByLink)
    dom.element("h3", "ma-field-label", text: .inviteByLink, in: node)
    dom.element("p", "ma-note", text: note, in: node)
  }

  /// Another life or number of people is another link.
  private func changed(_ change: () -> Void) {
    change()
    app.keptLinks.removeAll { $0.room == room }
    dom.releaseChildren(of: result)
    hideCode()
    dom.flush()
  }

  // MARK: The link

  private func addButtons(_ url: @escaping (@escaping (String) -> Void) -> Void) {
    let buttons = dom.element("div", "ma-invite-buttons", in: node)
    let copy = dom.button("ma-button ma-primary", .copyLink, icon: .link, in: buttons)
    qrButton = dom.button("ma-button", .showQRCode, in: buttons)
    dom.setAttribute(qrButton, "aria-expanded", "false")
    dom.on(copy, .click) { [self] _ in url { [self] in copyLink($0) } }
    dom.on(qrButton, .click) { [self] _ in if qrCode == .none { url { [self] in showCode($0) } } else { hideCode() } }
    if Host.pageState.contains(.canShare) {
      let share = dom.button("ma-button", .share, in: buttons)
      dom.on(share, .click) { _ in url { Host.share(link: $0, title: Strings[.product]) } }
    }
    trouble = frame.trouble(in: node)
    result = dom.element("div", in: node)
  }

  private var kept: KeptLink? {
    app.keptLinks.first { $0.room == room && $0.expires > Host.wallClockMilliseconds() }
  }

  private func make(_ then: @escaping (String) -> Void) {
    if let kept { return then(kept.url) }
    guard !isMaking else { return }
    isMaking = true
    dom.setText(trouble, "")
    dom.element("p", "ma-note", text: .makingLink, in: result)
    app.ask(.createInviteLink(to: room, uses: uses, lifetimeMilliseconds: lifetime)) { [self] answer in
      isMaking = false
      guard frame.isOpen else { return }
      dom.releaseChildren(of: result)
      switch answer {
      case .failure(.refused(_, .resourceLimitExceeded, _, _)): dom.setText(trouble, .tooManyLinks)
      case .failure(let error): dom.setText(trouble, Strings.words(for: error))
      case .success(let made):
        let kept = KeptLink(
          room: room, id: made.link.id, url: app.inviteURL(.token(made.token)), expires: made.link.expires,
          uses: made.link.usesAllowed)
        app.keptLinks.append(kept)
        show(kept)
        onMade()
        then(kept.url)
      }
      dom.flush()
    }
    dom.flush()
  }

  private func show(_ kept: KeptLink) {
    let line = dom.element("div", "ma-copy-line", in: result)
    let texts = dom.element("div", "ma-copy-texts", in: line)
    dom.setAttribute(dom.element("span", "ma-copy-text", text: kept.url, in: texts), "dir", "ltr")
    dom.element(
      "span", "ma-field-hint",
      text: Strings[.linkPersons, count: Int(kept.uses)] + " · " + Strings[.linkUntil, Host.dateTimeLabel(kept.expires)],
      in: texts)
  }

  private func copyLink(_ url: String) {
    Host.copyToClipboard(url) { [self] isDone in
      if isDone { app.notices.show(.linkCopied) } else if frame.isOpen { dom.setText(trouble, .linkNotCopied) }
      dom.flush()
    }
  }

  // MARK: QR code

  private func showCode(_ url: String) {
    guard let code = QRCode(url) else { return }
    let side = code.size + 2 * QRCode.quietModules
    qrCode = dom.element("svg:svg", "ma-qr-code", in: node)
    dom.setAttribute(qrCode, "viewBox", "0 0 \(side) \(side)")
    dom.setAttribute(qrCode, "role", "img")
    dom.setLabel(qrCode, .qrCode)
    dom.setAttribute(qrCode, "tabindex", "-1")
    dom.setAttribute(dom.element("svg:path", in: qrCode), "d", code.path)
    dom.setText(qrButton, .hideQRCode)
    dom.setAttribute(qrButton, "aria-expanded", "true")
    // What has the focus comes into view.
    dom.focus(qrCode)
    dom.flush()
  }

  private func hideCode() {
    guard qrCode != .none else { return }
    dom.release(qrCode)
    qrCode = .none
    dom.setText(qrButton, .showQRCode)
    dom.setAttribute(qrButton, "aria-expanded", "false")
    dom.flush()
  }
}

/// A link that this page has made. The server does not tell its token again.
struct KeptLink {
  let room: RoomID?
  let id: ByteString
  let url: String
  let expires: Int64
  let uses: Int64
}
