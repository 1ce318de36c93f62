import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What each role may do in a room: a table to read, and below it, folded, a choice for each line.
final class RolesPage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let page: Node
  private var shown: PowerLevels?
  private var isFoldOpen = false

  init(_ app: App<D>, _ state: Room, in parent: Node) {
    self.app = app
    dom = app.dom
    room = state.id
    page = dom.element("div", "ma-form", in: parent)
    update(state)
  }

  func update(_ state: Room) {
    guard state.powerLevels != shown else { return }
    shown = state.powerLevels
    dom.releaseChildren(of: page)
    showTable(state)
    showFineControl(state)
  }

  // MARK: The table

  private func showTable(_ state: Room) {
    guard let powers = state.powerLevels else { return }
    let roles: [RoomRole] = [.user, .moderator, .administrator]
    dom.element("p", "ma-note", text: .rolesNote, in: page)
    let table = dom.element("table", "ma-roles", in: dom.element("div", "ma-roles-scroller", in: page))
    let head = dom.element("tr", in: dom.element("thead", in: table))
    dom.element("td", in: head)
    for role in roles {
      dom.setAttribute(dom.element("th", text: Strings.words(for: role), in: head), "scope", "col")
    }
    let body = dom.element("tbody", in: table)
    for (words, map, key) in Self.subjects where words != (state.isSpace ? .sendMessages : .addRoomToSpace) {
      let line = dom.element("tr", in: body)
      dom.setAttribute(dom.element("th", text: words, in: line), "scope", "row")
      let level = powers.required(PowerSubject(map, key)).value
      for role in roles {
        let cell = dom.element("td", in: line)
        let may = (role.suggestedLevel ?? 0) >= level
        if may {
          Drawing.check.draw(dom, in: cell)
        } else {
          dom.setAttribute(dom.element("span", text: "–", in: cell), "aria-hidden", "true")
        }
        dom.element("span", "ma-spoken", text: may ? .yes : .no, in: cell)
      }
    }
  }

  // MARK: Each line by itself

  /// What levels are shown of, and the words for it.
  private static var subjects: [(words: Strings.Key, map: PowerSubject.Map, key: StaticString)] {
    [
      (.sendMessages, .event, "events_default"), (.invite, .event, "invite"), (.remove, .event, "kick"), (.ban, .event, "ban"),
      (.deleteOthers, .event, "redact"), (.notifyEverybody, .notifications, "room"),
      (.pin, .states, "m.room.pinned_events"), (.roomName, .states, "m.room.name"), (.topic, .states, "m.room.topic"),
      (.changePicture, .states, "m.room.avatar"), (.addresses, .states, "m.room.canonical_alias"),
      (.whoMayJoin, .states, "m.room.join_rules"), (.whoMayRead, .states, "m.room.history_visibility"),
      (.permissions, .states, "m.room.power_levels"), (.upgrade, .states, "m.room.tombstone"),
      (.addRoomToSpace, .states, "m.space.child")
    ]
  }

  private func showFineControl(_ state: Room) {
    guard let powers = state.powerLevels, let user = app.userID else { return }
    let fold = dom.element("details", "ma-fold", in: page)
    if isFoldOpen { dom.setFlag(fold, "open", true) }
    dom.on(dom.element("summary", text: .fineControl, in: fold), .click) { [self] _ in isFoldOpen.toggle() }
    dom.element("p", "ma-note", text: .permissionsNote, in: fold)
    let lines = SettingLines(app, in: dom.element("div", "ma-form", in: fold))
    for (words, map, key) in Self.subjects where words != (state.isSpace ? .sendMessages : .addRoomToSpace) {
      let subject = PowerSubject(map, key)
      let level = powers.required(subject).value
      var options: [SettingLines<D>.Option] = []
      var isNamed = false
      for role in [RoomRole.user, .moderator, .administrator] {
        guard let new = role.suggestedLevel else { continue }
        let holds = new == level
        isNamed = isNamed || holds
        if holds || powers.canSetLevel(of: subject, to: new, by: user) { options.append(("\(new)", Strings.words(for: role))) }
      }
      if !isNamed { options.append(("\(level)", Strings[.roleOfLevel, "\(level)"])) }
      let isAllowed = powers.canSetLevel(of: subject, to: level, by: user)
      lines.add(Strings[words], options, known: "\(level)", isAllowed: isAllowed) { [app, room] value, ended in
        if let new = Int64(value) { app.save(.people(.setRequiredLevel(room, subject, to: new)), ended) }
      }
    }
  }
}
