import ClientCore
import JSON
import MatrixModel
import Messenger

/// What the open room is, how it is set up, who is in it, and the way out of it.
final class DetailsPane<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let close: Node
  private let title: RoomTitle<D>
  private let settings: RoomSettingsForm<D>
  private var since: TextView<D>
  private let members: MemberList<D>
  private var room: RoomID?
  private var needsMembers = false

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("aside", "ma-details", in: parent)
    dom.setLabel(node, .details)
    dom.markPart(node)
    let header = dom.element("header", "ma-header", in: node)
    dom.element("h2", "ma-list-title", text: .about, in: header)
    close = dom.button("ma-round", icon: .close, label: .close, in: header)
    let scroller = dom.element("div", "ma-details-body", in: node)
    title = RoomTitle(app, in: scroller)
    let shared = dom.button("ma-button ma-wide", .sharedInRoom, icon: .picture, in: scroller)
    settings = RoomSettingsForm(app, in: scroller)
    since = TextView(dom, "p", "ma-note", in: scroller)
    members = MemberList(app, in: scroller)
    let leave = dom.button("ma-button ma-danger ma-wide", .leave, icon: .exit, in: scroller)
    let report = dom.button("ma-button ma-wide", .reportRoom, in: scroller)
    dom.setFlag(node, "hidden", true)
    dom.on(report, .click) { [self] _ in
      guard let room else { return }
      app.dialogs.open { ReportDialog(app, .reportRoom, in: $0) { .report(room, reason: $0) } }
    }
    dom.on(shared, .click) { [self] _ in
      hide()
      app.main?.room?.panel.show(.shared)
    }
    dom.on(close, .click) { [self] _ in hide() }
    dom.on(leave, .click) { [self] _ in askLeave() }
    dom.listen(node, .keyDown) { [self] event in
      guard case .escape = event.key else { return .pass }
      hide()
      return .preventDefault
    }
  }

  private func hide() { if let room { app.goTo(.room(room)) } }

  func show(_ id: RoomID?) {
    guard id != room else { return }
    room = id
    dom.setFlag(node, "hidden", id == nil)
    members.clear()
    guard let id else { return }
    update()
    guard room == id else { return }
    members.showLoading()
    showSince(id)
    app.ask(.people(.loadMembers(id))) { [self] result in
      guard room == id else { return }
      if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
      showMembers()
    }
    dom.focus(close)
  }

  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    guard id == room else { return }
    update()
    if aspects.contains(.settings) { settings.roomChanged() }
    if !aspects.isDisjoint(with: [.memberCounts, .members, .settings]) { needsMembers = true }
  }

  func membersChanged(_ id: RoomID) { if id == room { needsMembers = true } }

  /// What one is told of.
  func rulesChanged() { update() }

  func settle() {
    if needsMembers { showMembers() }
    needsMembers = false
  }

  private func update() {
    guard let id = room, let state = app.client.room(id) else { return }
    // Shown out while looking: nothing here can be done any more.
    guard state.membership == .join else { return app.goTo(.room(id), replacing: true) }
    title.update(state)
    settings.update(state)
    members.update(state)
  }

  private func showMembers() { if let id = room, let state = app.client.room(id) { members.show(state) } }

  /// How much was said since one joined, where the server counts it.
  private func showSince(_ id: RoomID) {
    since.set("")
    guard app.client.offeredExtensions?.contains(.sinceJoined) ?? false else { return }
    app.ask(.messagesSinceJoined(id)) { [self] result in
      if room == id, case .success(let count) = result { since.set(Strings[.sinceJoined, count: count]) }
    }
  }

  private func askLeave() {
    guard let id = room else { return }
    app.dialogs.open {
      _ = ConfirmDialog(
        app, .leaveQuestion, note: Strings[.leaveNote], action: .leave, busy: .leaving, .rooms(.leave(id)),
        in: $0
      ) { [app] in app.goTo(.list, replacing: true) }
    }
  }
}

extension App {
  /// Where it is unknown what one may do, the server says it.
  func may(_ action: RoomAction, in room: RoomID) -> Bool { client.can(action, in: room) ?? true }
}
