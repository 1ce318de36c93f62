import ClientCore
import JSON
import MatrixModel
import Messenger

/// What one is told of a room, who may join it, who may read what was said before; of a space, what is in it.
final class RoomSettingsForm<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private var room: RoomID?
  /// What the lines below were made from.
  private var shown: Shown?

  private struct Shown: Equatable {
    let mode: NotificationMode?
    let joinRule: JoinRule?
    let history: HistoryVisibility
    let isSpace: Bool
    let maySetRule: Bool
    let maySetHistory: Bool
    let mayAddRooms: Bool
    let room: RoomID
  }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-form", in: parent)
  }

  func update(_ state: Room) {
    let id = state.id
    let new = Shown(
      mode: app.client.pushRules.mode(of: id), joinRule: state.joinRule, history: state.historyVisibility,
      isSpace: state.isSpace, maySetRule: app.may(.sendState(.joinRules), in: id),
      maySetHistory: app.may(.sendState(.historyVisibility), in: id), mayAddRooms: app.may(.sendState(.spaceChild), in: id),
      room: id)
    guard new != shown else { return }
    shown = new
    room = id
    dom.releaseChildren(of: node)
    if new.isSpace { addRooms(new) } else { NotificationChoice(app, id, in: node) }
    addJoinRule(new)
    addHistory(new)
  }

  // MARK: Who may

  private func addJoinRule(_ shown: Shown) {
    var rules: [(rule: JoinRule, words: Strings.Key)] = [
      (.public, .ruleAnyone), (.knock, .ruleKnock), (.invite, .ruleInvited)
    ]
    // Which rooms it speaks of is more than this list can say.
    if let rule = shown.joinRule, rule.allowsRestrictedJoins { rules.append((rule, .ruleRestricted)) }
    let known = shown.joinRule.map { "\($0.rawValue)" } ?? "\(JoinRule.invite.rawValue)"
    let options: [(value: String, words: String)] = rules.map { ("\($0.rule.rawValue)", Strings[$0.words]) }
    add(Strings[.whoMayJoin], options, known, shown.maySetRule) { [self] choice, text in
      guard let rule = rules.first(where: { "\($0.rule.rawValue)".hasSameBytes(as: text) })?.rule else { return }
      let allowed = app.client.room(shown.room)?.allowedRooms ?? []
      app.ask(.setJoinRule(rule, membersOf: allowed, of: shown.room)) { [self] in ended($0, choice, known) }
    }
  }

  private func addHistory(_ shown: Shown) {
    let kinds: [(kind: HistoryVisibility, words: Strings.Key)] = [
      (.worldReadable, .readAnyone), (.shared, .readMembers), (.invited, .readSinceInvited), (.joined, .readSinceJoined)
    ]
    let known = "\(shown.history.rawValue)"
    let options: [(value: String, words: String)] = kinds.map { ("\($0.kind.rawValue)", Strings[$0.words]) }
    add(Strings[.whoMayRead], options, known, shown.maySetHistory) { [self] choice, text in
      guard let kind = kinds.first(where: { "\($0.kind.rawValue)".hasSameBytes(as: text) })?.kind else { return }
      app.ask(.setHistoryVisibility(kind, of: shown.room)) { [self] in ended($0, choice, known) }
    }
  }

  /// A choice for those who may choose; for others what holds.
  private func add(
    _ label: String, _ options: [(value: String, words: String)], _ known: String, _ isAllowed: Bool,
    _ then: @escaping (Choice<D>, String) -> Void
  ) {
    guard isAllowed else {
      let line = dom.element("div", "ma-section", in: node)
      dom.element("h4", "ma-field-label", text: label, in: line)
      let words = options.first { $0.value.hasSameBytes(as: known) }?.words ?? ""
      dom.element("p", text: words, in: line)
      return
    }
    let choice = Choice(dom, label, options, selected: known, in: node)
    choice.onChange = { then(choice, $0) }
  }

  private func ended<Answer>(_ result: Result<Answer, ClientError>, _ choice: Choice<D>, _ known: String) {
    guard case .failure(let error) = result else { return }
    choice.set(known)
    app.notices.show(Strings.words(for: error), isTrouble: true)
  }

  // MARK: Spaces

  private func addRooms(_ shown: Shown) {
    let explore = dom.button("ma-button ma-wide", Strings[.roomsOfSpace], icon: .hash, in: node)
    dom.on(explore, .click) { [app] _ in
      app.dialogs.open { frame in
        frame.setTitle(Strings[.roomsOfSpace])
        RoomDirectory(app, .space(shown.room), in: frame, at: app.dom.element("div", "ma-form", in: frame.body)).setHidden(
          false)
      }
    }
    guard shown.mayAddRooms else { return }
    var options: [(value: String, words: String)] = [("", Strings[.chooseRoom])]
    let children = app.client.spaces.children(of: shown.room)
    for id in app.client.roomIDs where id != shown.room && !children.contains(id) {
      guard let room = app.client.room(id), room.membership == .join, !room.isDirect else { continue }
      options.append((id.string, Strings.words(for: room.name)))
    }
    guard options.count > 1 else { return }
    Choice(dom, Strings[.addRoomToSpace], options, selected: "", in: node) { [self] text in
      guard let child = RoomID(text) else { return }
      let servers = app.userID.map { [$0.serverName] } ?? []
      app.askOrSay(.setSpaceChild(child, in: shown.room, SpaceChildChange(servers: servers))) { [self] in
        app.notices.show(Strings[.addedToSpace])
        self.shown = nil
        if let state = app.client.room(shown.room), room == shown.room { update(state) }
      }
    }
  }
}
