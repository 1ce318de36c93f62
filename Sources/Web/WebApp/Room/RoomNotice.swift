import ClientCore
import JSON
import MatrixModel
import Messenger

/// Stands in place of the composer where one cannot write: an invitation, a room that was left, an encrypted or moved one.
final class RoomNotice<D: DOM> {
  private enum Kind: UInt8 { case none, invite, left, banned, unknown, encrypted, moved }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private var shown = Kind.none
  private var shownRoom: RoomID?
  /// Counts what was shown: an answer that comes late must not touch buttons that are gone.
  private var version = 0

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-room-notice", in: parent)
    dom.setFlag(node, "hidden", true)
  }

  func update(_ id: RoomID, _ room: Room?) {
    let kind = kind(room)
    guard kind != shown || id != shownRoom else { return }
    shown = kind
    shownRoom = id
    version += 1
    dom.releaseChildren(of: node)
    dom.setFlag(node, "hidden", kind == .none)
    dom.setClass(node, kind == .invite ? "ma-room-notice ma-invitation" : "ma-room-notice")
    switch kind {
    case .none: break
    case .invite: showInvitation(id, room)
    case .left, .banned, .unknown: showOutside(id, kind)
    case .encrypted: say(Strings[.encrypted], icon: .lock)
    case .moved: showMoved(room)
    }
  }

  private func kind(_ room: Room?) -> Kind {
    guard let room else { return app.client.connectionIsRunning ? .unknown : .none }
    switch room.membership {
    case .invite: return .invite
    case .ban: return .banned
    case .join: return room.successor != nil ? .moved : room.isEncrypted ? .encrypted : .none
    default: return .left
    }
  }

  private func say(_ text: String, icon: Drawing? = nil) {
    icon?.draw(dom, in: node)
    dom.element("p", "ma-room-notice-text", text: text, in: node)
  }

  private func showInvitation(_ id: RoomID, _ room: Room?) {
    let name = room?.inviter.flatMap { room?.displayName(of: $0).string }
    let isDirect = room?.isDirect ?? false
    say(name.map { isDirect ? Strings[.invitedToChat, $0] : Strings[.invitedBy, $0] } ?? Strings[.invitedBySomeone])
    if let inviter = room?.inviter { dom.element("p", "ma-note", text: inviter.string, in: node) }
    let buttons = dom.element("div", "ma-buttons", in: node)
    let decline = SubmitButton(dom, Strings[.decline], busy: Strings[.leaving], kind: "", in: buttons)
    let accept = SubmitButton(dom, Strings[.accept], busy: Strings[.joining], in: buttons)
    run(accept, .join(id.text))
    run(decline, .leave(id)) { [app] in if app.place.room == id { app.goTo(.list, replacing: true) } }
  }

  private func showOutside(_ id: RoomID, _ kind: Kind) {
    say(kind == .banned ? Strings[.banned] : kind == .left ? Strings[.left] : Strings[.unknownRoom])
    let buttons = dom.element("div", "ma-buttons", in: node)
    if kind != .unknown {
      let forget = SubmitButton(dom, Strings[.forget], busy: Strings[.leaving], kind: "", in: buttons)
      run(forget, .forget(id)) { [app] in app.goTo(.list, replacing: true) }
    }
    if kind != .banned { run(SubmitButton(dom, Strings[.join], busy: Strings[.joining], in: buttons), app.joining(id)) }
  }

  private func showMoved(_ room: Room?) {
    say(Strings[.upgraded])
    guard let successor = room?.successor else { return }
    let buttons = dom.element("div", "ma-buttons", in: node)
    let go = SubmitButton(dom, Strings[.goToNewRoom], busy: Strings[.joining], in: buttons)
    run(go, .join(successor.text)) { [app] in app.goTo(.room(successor)) }
  }

  private func run(_ button: SubmitButton<D>, _ command: Command, _ then: (() -> Void)? = nil) {
    dom.on(button.node, .click) { [self] _ in
      guard !button.isBusy else { return }
      button.setBusy(true)
      let asked = version
      app.ask(command) { [self] result in
        if version == asked { button.setBusy(false) }
        if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) } else { then?() }
      }
      dom.flush()
    }
  }
}
