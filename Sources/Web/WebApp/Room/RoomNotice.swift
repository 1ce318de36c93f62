import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Stands in place of the composer where one cannot write: an invitation, a room that was left, an encrypted or moved one.
final class RoomNotice<D: DOM> {
  private enum Kind: UInt8 { case none, invite, asked, left, banned, unknown, encrypted, moved, silent }

  private let app: App<D>
  private let dom: D
  private let column: Node
  private let node: Node
  private var shown = Kind.none
  private var shownRoom: RoomID?
  private var summary: RoomSummary?
  /// Counts what was shown: an answer that comes late must not touch buttons that are gone.
  private var version = 0

  init(_ app: App<D>, in column: Node) {
    self.app = app
    dom = app.dom
    self.column = column
    node = dom.element("div", "ma-room-notice", in: column)
    dom.setFlag(node, "hidden", true)
  }

  /// - Parameter summary: of a room that the user is not in, once the server has told it.
  func update(_ id: RoomID, _ room: Room?, _ summary: RoomSummary? = nil) {
    let kind = kind(room)
    guard kind != shown || id != shownRoom || summary?.id != self.summary?.id else { return }
    shown = kind
    shownRoom = id
    self.summary = summary
    version += 1
    dom.releaseChildren(of: node)
    dom.setFlag(node, "hidden", kind == .none)
    dom.setClass(column, kind == .invite ? "ma-column ma-is-invited" : "ma-column")
    switch kind {
    case .none: break
    case .invite: showInvitation(id, room)
    case .asked: showAsked(id)
    case .left, .banned, .unknown: showOutside(id, kind, room)
    case .encrypted: say(Strings[app.effects.isLasting ? .encryptionStopped : .encryptedNotKept], icon: .lock)
    case .moved: showMoved(room)
    case .silent: say(Strings[.mayNotWrite])
    }
  }

  private func kind(_ room: Room?) -> Kind {
    guard let room else { return app.client.connectionIsRunning ? .unknown : .none }
    switch room.membership {
    case .invite: return .invite
    case .ban: return .banned
    case .knock: return .asked
    case .join:
      if room.successor != nil { return .moved }
      if room.isEncrypted, !app.client.encrypts { return .encrypted }
      return app.canWrite(in: room) ? .none : .silent
    default: return .left
    }
  }

  private func say(_ text: String, icon: Drawing? = nil) {
    icon?.draw(dom, in: node)
    dom.element("p", "ma-room-notice-text", text: text, in: node)
  }

  private func showInvitation(_ id: RoomID, _ room: Room?) {
    say(room.map { Strings.invitation(to: $0) } ?? Strings[.invitedBySomeone])
    if let inviter = room?.inviter {
      // People choose their own names: the ID is for those who want to be sure.
      let address = dom.element("details", "ma-inviter", in: node)
      dom.element("summary", "ma-link", text: .userID, in: address)
      dom.element("p", "ma-note", text: inviter.string, in: address)
    }
    let buttons = dom.element("div", "ma-buttons", in: node)
    let decline = SubmitButton(dom, .decline, busy: .leaving, kind: "", in: buttons)
    let accept = SubmitButton(dom, .accept, busy: .joining, in: buttons)
    run(accept, .rooms(.join(id.text)))
    run(decline, .rooms(.leave(id))) { [app] in if app.place.room == id { app.goTo(.list, replacing: true) } }
  }

  private func showAsked(_ id: RoomID) {
    say(Strings[.waitingForAnswer])
    let buttons = dom.element("div", "ma-buttons", in: node)
    run(SubmitButton(dom, .withdrawRequest, busy: .leaving, kind: "", in: buttons), .rooms(.leave(id)))
  }

  private func showOutside(_ id: RoomID, _ kind: Kind, _ room: Room?) {
    if let summary, kind == .unknown, summary.isWorldReadable { showHistory(of: summary) }
    let removal = kind == .left ? removal(id, room) : nil
    say(removal ?? (kind == .banned ? Strings[.banned] : kind == .left ? Strings[.left] : Strings[.unknownRoom]))
    let buttons = dom.element("div", "ma-buttons", in: node)
    if kind != .unknown {
      let forget = SubmitButton(dom, .forget, busy: .leaving, kind: "", in: buttons)
      run(forget, .rooms(.forget(id))) { [app] in app.goTo(.list, replacing: true) }
    }
    // A removed user can come back only if the join rule allows it.
    guard kind != .banned, removal == nil || room?.joinRule.map({ $0 != .invite && $0 != .private }) ?? true else { return }
    let rule = room?.joinRule ?? summary?.joinRule
    let asks = rule?.allowsKnocking == true && rule?.allowsRestrictedJoins == false
    let button = SubmitButton(dom, asks ? .askToJoin : .join, busy: .joining, in: buttons)
    run(button) { [app] ended in
      if asks { app.save(.knock(id.text)) { ended($0.map { Strings.words(for: $0) }) } } else { app.comeBack(to: id, ended) }
    }
  }

  /// The last messages of a room whose history anybody may read, above the way in.
  private func showHistory(of room: RoomSummary) {
    let list = dom.element("div", "ma-outside", in: node)
    dom.setFlag(list, "hidden", true)
    dom.setAttribute(list, "role", "log")
    dom.setAttribute(list, "tabindex", "0")
    dom.setLabel(list, room.title)
    let asked = version
    app.ask(.messages(in: room.id, limit: Self.historyEvents)) { [self] result in
      guard version == asked, case .success(let page) = result else { return }
      for event in page.events.reversed() {
        guard let sender = event.sender, let text = event.shownText else { continue }
        let line = dom.element("p", "ma-outside-message", in: list)
        dom.setAttribute(line, "dir", "auto")
        dom.element("b", "", text: page.name(of: sender), in: line)
        dom.element("span", "", text: Strings[.labelled, "", text], in: line)
        dom.setFlag(list, "hidden", false)
        dom.setClass(column, "ma-column ma-is-outside")
      }
      dom.flush()
    }
  }

  private static var historyEvents: Int { 30 }

  /// Who removed one, and why; nil where nobody did.
  private func removal(_ id: RoomID, _ room: Room?) -> String? {
    guard let room, let items = app.client.timeline(.live(id))?.items else { return nil }
    for item in items.suffix(20).reversed() {
      if case .state(let change) = item.content, case .kicked(app.userID, _) = change {
        return Strings.words(for: change, by: room.displayName(of: item.sender).string) { room.displayName(of: $0).string }
      }
    }
    return nil
  }

  private func showMoved(_ room: Room?) {
    say(Strings[.upgraded])
    guard let successor = room?.successor else { return }
    let buttons = dom.element("div", "ma-buttons", in: node)
    let go = SubmitButton(dom, .goToNewRoom, busy: .joining, in: buttons)
    run(go, .rooms(.join(successor.text))) { [app] in app.goTo(.room(successor)) }
  }

  private func run(_ button: SubmitButton<D>, _ command: Command, _ then: (() -> Void)? = nil) {
    run(button, { [app] ended in app.save(command) { ended($0.map { Strings.words(for: $0) }) } }, then)
  }

  /// - Parameter work: tells what went wrong, nil for nothing.
  private func run(
    _ button: SubmitButton<D>, _ work: @escaping (@escaping (String?) -> Void) -> Void, _ then: (() -> Void)? = nil
  ) {
    dom.on(button.node, .click) { [self] _ in
      guard !button.isBusy else { return }
      button.setBusy(true)
      let asked = version
      work { [self] trouble in
        if version == asked { button.setBusy(false) }
        if let trouble { app.notices.show(trouble, isTrouble: true) } else { then?() }
      }
      dom.flush()
    }
  }
}

extension Event {
  /// What a message says, in short; nil for anything else.
  fileprivate var shownText: String? {
    guard type == .message, content["m.relates_to"]?["rel_type"]?.isString("m.replace") != true else { return nil }
    return content.text("body")?.string
  }
}

extension EventPage {
  fileprivate func name(of user: UserID) -> String {
    let member = state.last { $0.type == .member && $0.stateKey == user.text }
    return member.flatMap { ShownName.read($0.content["displayname"]) }?.string ?? user.string
  }
}

extension App {
  /// Into a room that one is not in. Where only invited people may come in, servers may let back who has left by themselves.
  fileprivate func comeBack(to room: RoomID, _ ended: @escaping (String?) -> Void) {
    save(joining(room)) { [self] error in
      guard let error else { return ended(nil) }
      guard case .refused(403, _, _, _) = error, client.room(room) != nil else { return ended(Strings.words(for: error)) }
      ask(.capabilities()) { [self] result in
        guard case .success(let found) = result, found.extensions.contains(.rejoin) else { return ended(Strings[.onlyInvited]) }
        save(.rejoin(room)) { ended($0.map { _ in Strings[.onlyInvited] }) }
      }
    }
  }
}
