import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What is rarely touched of a room: slow mode, rules that others keep, its ID and version.
final class AdvancedPage<D: DOM> {
  private let app: App<D>
  private let frame: DialogFrame<D>
  private let dom: D
  private let room: RoomID
  private let page: Node
  // What the server says; nil until then.
  private var newestVersion: ByteString?
  private var offered: ServerExtensions = []
  /// Rooms whose rules keep invitations from one.
  private var policyRooms: [RoomID]?

  init(_ app: App<D>, _ state: Room, _ frame: DialogFrame<D>, in parent: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    room = state.id
    page = dom.element("div", "ma-form", in: parent)
    update(state)
    app.ask(.capabilities()) { [self] result in
      guard frame.isOpen, case .success(let found) = result else { return }
      newestVersion = found.defaultRoomVersion
      offered = found.extensions
      showAgain()
      loadPolicyRooms()
    }
  }

  private func showAgain() { if let state = app.client.room(room) { update(state) } }

  private func loadPolicyRooms() {
    guard offered.contains(.policyLists), let user = app.userID else { return }
    app.ask(.accountData(Self.policyType, of: user)) { [self] result in
      guard frame.isOpen else { return }
      switch result {
      case .success(let content): policyRooms = content["rooms"]?.elements.compactMap { RoomID($0) } ?? []
      case .failure(.refused(404, _, _, _)): policyRooms = []
      case .failure: return
      }
      showAgain()
    }
  }

  func update(_ state: Room) {
    dom.releaseChildren(of: page)
    if !state.isSpace, state.directUserID == nil { addSlowMode(state) }
    if state.directUserID == nil { addPolicyLine() }
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
        Strings[.upgrade], note: Strings[.upgradeNote, version.string], action: .upgrade,
        busy: .creating, in: $0,
        run: { ended in
          app.ask(.upgrade(room, to: version)) { result in
            if case .failure(let error) = result { return ended(Strings.words(for: error)) }
            if case .success(let made) = result { new = made }
            ended(nil)
          }
        }
      ) {
        guard let new else { return }
        // The user is in the new room already. Joining again makes the client wait for it.
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
