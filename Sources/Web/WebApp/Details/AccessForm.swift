import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Who may join a room, who may read what was said before, and whether guests may.
final class AccessForm<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let safety: SafetyLine<D>
  private let node: Node
  private var room: RoomID?
  /// What the lines below were made from.
  private var shown: Shown?

  private struct Shown: Equatable {
    let joinRule: JoinRule?
    let allowedRooms: [RoomID]
    /// That the room is in and whose members may be let in.
    let spaces: [RoomID]
    let history: HistoryVisibility
    let allowsGuests: Bool
    let mayAllowGuests: Bool
    let maySetRule: Bool
    let maySetHistory: Bool
    let mayEncrypt: Bool
    let room: RoomID
  }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    safety = SafetyLine(dom, in: parent)
    node = dom.element("div", "ma-form", in: parent)
  }

  func update(_ state: Room) {
    let id = state.id
    safety.update(state)
    let new = Shown(
      joinRule: state.joinRule,
      allowedRooms: state.allowedRooms,
      spaces: state.allowsRestrictedJoins ? app.client.spaces.parents(of: id) : [], history: state.historyVisibility,
      allowsGuests: state.allowsGuests, mayAllowGuests: app.may(.sendState(.guestAccess), in: id),
      maySetRule: app.may(.sendState(.joinRules), in: id),
      maySetHistory: app.may(.sendState(.historyVisibility), in: id),
      mayEncrypt: !state.isEncrypted && !state.isSpace && app.may(.sendState(.encryption), in: id), room: id)
    guard new != shown else { return }
    shown = new
    room = id
    dom.releaseChildren(of: node)
    if new.mayEncrypt { addEncryption(id) }
    guard state.directUserID == nil else { return }
    let lines = SettingLines(app, in: node)
    addJoinRule(new, to: lines)
    addHistory(new, to: lines)
    lines.add(Strings[.guestsMayJoin], isOn: new.allowsGuests, isAllowed: new.mayAllowGuests) { [app] isOn, ended in
      app.save(.setAllowsGuests(isOn, of: id), ended)
    }
  }

  private func addEncryption(_ room: RoomID) {
    let button = dom.button("ma-link", .turnOnEncryption, in: node)
    dom.on(button, .click) { [app] _ in app.askToEncrypt(room) }
  }

  // MARK: Who may

  private func addJoinRule(_ shown: Shown, to lines: SettingLines<D>) {
    var rules: [(rule: JoinRule, rooms: [RoomID], words: String)] = [
      (.public, [], Strings[.ruleAnyone]), (.knock, [], Strings[.ruleKnock]), (.invite, [], Strings[.ruleInvited])
    ]
    for space in shown.spaces {
      let name = app.client.room(space).map { Strings.words(for: $0.name) } ?? space.string
      rules.append((.restricted, [space], Strings[.ruleSpace, name]))
    }
    let rule = shown.joinRule ?? .invite
    var known = rules.firstIndex { $0.rule == rule && (!rule.allowsRestrictedJoins || $0.rooms == shown.allowedRooms) }
    if known == nil, rule.allowsRestrictedJoins {
      // Which rooms it speaks of is more than this list can say.
      known = rules.count
      rules.append((rule, shown.allowedRooms, Strings[.ruleRestricted]))
    }
    let options = rules.enumerated().map { (value: "\($0.offset)", words: $0.element.words) }
    let value = known.map { "\($0)" } ?? ""
    lines.add(Strings[.whoMayJoin], options, known: value, isAllowed: shown.maySetRule) { [app] value, ended in
      guard let index = Int(value), rules.indices.contains(index) else { return }
      app.save(.setJoinRule(rules[index].rule, membersOf: rules[index].rooms, of: shown.room), ended)
    }
  }

  private func addHistory(_ shown: Shown, to lines: SettingLines<D>) {
    let kinds: [(kind: HistoryVisibility, words: Strings.Key)] = [
      (.worldReadable, .readAnyone), (.shared, .readMembers), (.invited, .readSinceInvited), (.joined, .readSinceJoined)
    ]
    let options = kinds.map { (value: "\($0.kind.rawValue)", words: Strings[$0.words]) }
    let known = "\(shown.history.rawValue)"
    lines.add(Strings[.whoMayRead], options, known: known, isAllowed: shown.maySetHistory) { [app] value, ended in
      guard let kind = kinds.first(where: { "\($0.kind.rawValue)".hasSameBytes(as: value) })?.kind else { return }
      app.save(.setHistoryVisibility(kind, of: shown.room), ended)
    }
  }
}

extension Room {
  /// Whether its version has rules by which members of other rooms may join. Spec: room version 8.
  fileprivate var allowsRestrictedJoins: Bool {
    let number = version.flatMap { Int($0.string) }
    return number.map { $0 >= 8 } ?? true
  }
}
