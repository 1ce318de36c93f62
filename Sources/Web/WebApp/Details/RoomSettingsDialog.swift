import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// How a room is set up, beyond what stands in its details: its addresses, who may do what, and what is rarely touched.
final class RoomSettingsDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let room: RoomID
  private let tabs: Tabbed<D>
  private let page: Node
  /// Addresses that the page was made from.
  private var shownAliases: [RoomAlias] = []
  // What the server says when the dialog is opened; nil until then.
  private var localAliases: [RoomAlias]?
  private var isListed: Bool?
  private var newestVersion: ByteString?
  private var offered: ServerExtensions = []
  /// Rooms whose rules keep invitations from one.
  private var policyRooms: [RoomID]?

  init(_ app: App<D>, _ room: RoomID, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.room = room
    dom = app.dom
    frame.setTitle(.moreSettings, look: "ma-settings")
    tabs = Tabbed(dom, [.addresses, .permissions, .groups, .advanced], in: frame.body)
    page = dom.element("div", "ma-page", in: frame.body)
    tabs.onChange = { [self] _ in show() }
    show()
    load()
  }

  /// The room is set up otherwise. Where addresses are written the page stays as long as they are the same.
  func update() {
    guard frame.isOpen, let state = app.client.room(room) else { return }
    if tabs.selected > 0 || aliases(state) != shownAliases { show() }
  }

  private func show() {
    guard frame.isOpen, let state = app.client.room(room) else { return }
    dom.releaseChildren(of: page)
    switch tabs.selected {
    case 0: showAddresses(state)
    case 1: showPermissions(state)
    case 2: GroupList(app, state, in: page)
    default: showAdvanced(state)
    }
  }

  private func load() {
    app.ask(.localAliases(of: room)) { [self] in took($0) { localAliases = $0 } }
    app.ask(.isPublished(room)) { [self] in took($0) { isListed = $0 } }
    app.ask(.capabilities()) { [self] in
      took($0) {
        newestVersion = $0.defaultRoomVersion
        offered = $0.extensions
      }
      loadPolicyRooms()
    }
  }

  private func loadPolicyRooms() {
    guard offered.contains(.policyLists), let user = app.userID else { return }
    app.ask(.accountData(Self.policyType, of: user)) { [self] result in
      switch result {
      case .success(let content): policyRooms = content["rooms"]?.elements.compactMap { RoomID($0) } ?? []
      case .failure(.refused(404, _, _, _)): policyRooms = []
      case .failure: return
      }
      show()
    }
  }

  /// What cannot be had has no line.
  private func took<Answer>(_ result: Result<Answer, ClientError>, _ keep: (Answer) -> Void) {
    guard case .success(let answer) = result else { return }
    keep(answer)
    show()
  }

  // MARK: Addresses

  /// The main one first.
  private func aliases(_ state: Room) -> [RoomAlias] {
    var aliases = named(state)
    for alias in localAliases ?? [] where !aliases.contains(alias) { aliases.append(alias) }
    return aliases
  }

  /// Those that the room itself tells.
  private func named(_ state: Room) -> [RoomAlias] { (state.canonicalAlias.map { [$0] } ?? []) + state.alternativeAliases }

  private func showAddresses(_ state: Room) {
    let mayChange = app.may(.sendState(.canonicalAlias), in: room)
    let list = dom.element("div", "ma-form", in: page)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .addresses)
    let aliases = aliases(state)
    shownAliases = aliases
    if aliases.isEmpty { dom.element("p", "ma-note", text: .noAddresses, in: page) }
    for alias in aliases { add(alias, state, mayChange, in: list) }
    if mayChange { addForm() }
    guard let isListed else { return }
    SettingLines(app, in: page).add(Strings[.isListed], isOn: isListed, isAllowed: mayChange) { [self] isOn, ended in
      app.save(.setPublished(room, isOn)) { [self] error in
        if error == nil { self.isListed = isOn }
        ended(error)
      }
    }
  }

  private func add(_ alias: RoomAlias, _ state: Room, _ mayChange: Bool, in list: Node) {
    let line = dom.element("div", "ma-listed", in: list)
    dom.setAttribute(line, "role", "listitem")
    let name = alias.string
    dom.element("span", "ma-entry-lines", text: name, in: line)
    let isMain = alias == state.canonicalAlias
    if isMain { dom.element("span", "ma-remark", text: .mainAddress, in: line) }
    guard mayChange else { return }
    if !isMain {
      let main = dom.button("ma-button ma-small", .makeMain, in: line)
      dom.setLabel(main, Strings[.makeMain] + ": " + name)
      dom.on(main, .click) { [self] _ in publish(alias, named(state)) }
    }
    let remove = dom.button("ma-round", icon: .close, label: Strings[.removeNamed, name], in: line)
    dom.on(remove, .click) { [self] _ in self.remove(alias, state) }
  }

  /// The main address, and others that the room names.
  private func publish(_ alias: RoomAlias?, _ others: [RoomAlias]) {
    app.save(.setCanonicalAlias(alias, alternatives: others.filter { $0 != alias }, of: room)) { [self] in said($0) }
  }

  /// What leads to the room goes first: what the room names has to lead to it.
  private func remove(_ alias: RoomAlias, _ state: Room) {
    let unpublish = { [self] in
      guard named(state).contains(alias) else { return }
      let main = state.canonicalAlias
      publish(main == alias ? nil : main, state.alternativeAliases.filter { $0 != alias })
    }
    guard localAliases?.contains(alias) ?? false else { return unpublish() }
    app.save(.deleteAlias(alias)) { [self] error in
      said(error)
      guard error == nil else { return }
      localAliases?.removeAll { $0 == alias }
      show()
      unpublish()
    }
  }

  private func addForm() {
    let form = dom.element("form", "ma-form", in: page)
    let field = Field(dom, .aliasName, hint: .aliasHint, in: form)
    dom.button("ma-button", .addAddress, submits: true, in: form)
    dom.on(form, .submit) { [self] _ in
      let name = field.text.trimmed
      guard name.isAliasName, let server = app.userID?.serverName, let alias = RoomAlias("#" + name + ":" + server.string)
      else {
        field.setError(Strings[.aliasWrong])
        return dom.flush()
      }
      app.save(.createAlias(alias, of: room)) { [self] error in
        // Spec: `PUT /directory/room/{roomAlias}`.
        if case .refused(409, _, _, _)? = error { return field.setError(Strings[.roomAddressTaken]) }
        if let error { return field.setError(Strings.words(for: error)) }
        localAliases = (localAliases ?? []) + [alias]
        show()
        if let state = app.client.room(room), state.canonicalAlias == nil { publish(alias, state.alternativeAliases) }
      }
    }
  }

  private func said(_ error: ClientError?) {
    if let error { app.notices.show(Strings.words(for: error), isTrouble: true) }
  }

  // MARK: Permissions

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

  private func showPermissions(_ state: Room) {
    guard let powers = state.powerLevels, let user = app.userID else { return }
    dom.element("p", "ma-note", text: .permissionsNote, in: page)
    let lines = SettingLines(app, in: page)
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

  // MARK: Advanced

  private func showAdvanced(_ state: Room) {
    let mayAllow = app.may(.sendState(.guestAccess), in: room)
    SettingLines(app, in: page).add(Strings[.guestsMayJoin], isOn: state.allowsGuests, isAllowed: mayAllow) {
      [app, room] isOn, ended in
      app.save(.setAllowsGuests(isOn, of: room), ended)
    }
    if !state.isSpace { addSlowMode(state) }
    addPolicyLine()
    CopyLine(app, .roomID, room.string, in: page)
    guard let version = state.version else { return }
    dom.element("p", "ma-note", text: Strings[.roomVersion, version.string], in: page)
    if let made = state.madeAtMilliseconds {
      dom.element("p", "ma-note", text: Strings[.roomMade, Host.dateTimeLabel(made)], in: page)
    }
    guard let newest = newestVersion, newest != version, app.may(.upgrade, in: room) else { return }
    let button = dom.button("ma-button", .upgrade, in: page)
    dom.on(button, .click) { [self] _ in askUpgrade(to: newest) }
  }

  private func addSlowMode(_ state: Room) {
    let known = state.slowModeMilliseconds
    guard known > 0 || offered.contains(.slowMode) else { return }
    var options: [SettingLines<D>.Option] = [("0", Strings[.noSlowMode])]
    var isNamed = known == 0
    let add = { (time: Int64) in options.append(("\(time)", Strings.words(forMilliseconds: time))) }
    for time: Int64 in [10_000, 30_000, 60_000, 300_000, 3_600_000] {
      isNamed = isNamed || time == known
      add(time)
    }
    if !isNamed { add(known) }
    let isAllowed = app.may(.sendState(Room.slowModeType), in: room)
    SettingLines(app, in: page).add(Strings[.slowMode], options, known: "\(known)", isAllowed: isAllowed) {
      [app, room] value, ended in
      if let new = Int64(value) { app.save(.setSlowMode(new, of: room), ended) }
    }
  }

  private static var policyType: EventType { "martlet.policy_lists" }

  /// Whether the server keeps away what the room's policy rules ban. Spec: "Moderation policy lists".
  private func addPolicyLine() {
    guard let policyRooms, let user = app.userID else { return }
    SettingLines(app, in: page).add(Strings[.followBans], isOn: policyRooms.contains(room), isAllowed: true) {
      [self] isOn, ended in
      // The server looks at the first of them.
      let rooms = (isOn ? [room] : []) + policyRooms.filter { $0 != room }
      let content = JSONWriter.object { $0.array("rooms", rooms) { $1.write($0) } }
      app.save(.setAccountData(Self.policyType, content, of: user)) { [self] error in
        if error == nil { self.policyRooms = rooms }
        ended(error)
      }
    }
  }

  private func askUpgrade(to version: ByteString) {
    app.dialogs.open { [app, room] in
      var new: RoomID?
      _ = ConfirmDialog(
        app, .upgrade, note: Strings[.upgradeNote, version.string], action: .upgrade,
        busy: .creating, in: $0,
        run: { ended in
          app.ask(.upgrade(room, to: version)) { result in
            if case .failure(let error) = result { return ended(error) }
            if case .success(let made) = result { new = made }
            ended(nil)
          }
        }
      ) {
        guard let new else { return }
        // One is in it; asked once more the client waits for it.
        app.ask(.rooms(.join(new.text))) { _ in app.goTo(.room(new)) }
        app.inviteAgain(from: room, to: new)
      }
    }
  }
}

extension App {
  /// Who is in a room that only invited people may enter is invited to the one that takes its place.
  fileprivate func inviteAgain(from old: RoomID, to new: RoomID) {
    guard let state = client.room(old), state.joinRule != .public else { return }
    invite(state.members.map { $0.userID }.filter { $0 != userID }, to: new) { [self] refused, error in
      if let error { sayNotInvited(refused, error) }
    }
  }
}
