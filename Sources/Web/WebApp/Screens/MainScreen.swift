import AdministrationCore
import AdministrationScreens
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The rooms on one side, the open room on the other, its details beside it: three panes, two or one, as the width allows.
final class MainScreen<D: DOM> {
  private let app: App<D>
  private let dom: D
  let root: Node
  private let body: Node
  /// From the top: the header of the room, the call, the room. A wide window has the last two beside each other.
  private let center: Node
  private let top: Node
  private let banner: ConnectionBanner<D>
  private let security: SecurityBanner<D>
  private let list: RoomList<D>
  /// nil until its part of the program is there.
  private(set) var room: RoomScreen<D>?
  /// Stands in the room's place until then.
  private let roomToCome: Node
  /// nil until it is first shown.
  private var details: DetailsPane<D>?
  /// Stands over the rooms while it is open.
  private var administration: AdministrationScreen<D>?
  let calls: CallProgram<D>
  private var shownClass = ""
  private var showsPanel = false

  init(_ app: App<D>) {
    self.app = app
    dom = app.dom
    root = dom.element("div", "ma-app", in: .root)
    banner = ConnectionBanner(app, in: root)
    security = SecurityBanner(app, in: root)
    body = dom.element("div", "ma-body", in: root)
    list = RoomList(app, in: body)
    center = dom.element("main", "ma-center", in: body)
    top = dom.element("div", "ma-center-top", in: center)
    calls = CallProgram(app, in: center)
    roomToCome = dom.element("div", "ma-room", in: center)
    dom.element("p", "ma-note", text: .loading, in: dom.element("div", "ma-empty", in: roomToCome))
    dom.on(root, .focus) { app.dialogs.opener = $0.node }
    calls.onOffered = { [self] in room?.roomsChanged() }
    calls.onOngoing = { [self] in
      // A call that ends because another tab goes on says so behind the end of this screen.
      guard app.main === self else { return }
      showCall()
      room?.roomsChanged()
    }
    banner.update()
    list.showProfile()
  }

  /// Once the screen is the app's.
  func begin() {
    app.need(.room) { [self] in
      guard app.main === self, room == nil else { return }
      makeRoom()
      show(app.place)
    }
  }

  private func makeRoom() {
    dom.release(roomToCome)
    let room = RoomScreen(app, header: top, in: center)
    room.header.onCall = { [self] in if let room = app.place.room { calls.prepare(room, withCamera: $0) } }
    room.header.offersGroupCalls = { [self] in calls.offersGroupCalls }
    room.header.isInCall = { [self] in calls.ongoing?.room == $0 }
    room.panel.onShown = { [self] in
      showsPanel = $0
      showPanes(app.place)
    }
    self.room = room
  }

  func close() {
    leaving()
    calls.close()
    room?.close()
    dom.release(root)
    dom.flush()
  }

  /// The page goes away, or nobody looks at it: remember where the reader is.
  func leaving() { room?.savePlace() }

  /// The rooms of the list, from the top.
  var shownRooms: [RoomID] { list.rooms }

  func showProfile() { list.showProfile() }

  /// To the box above the list.
  func takeSearchFocus() { list.takeSearchFocus() }

  func takeFocus() {
    if let administration { administration.takeFocus() } else if let room { dom.focus(room.header.title) }
  }

  /// By classes: with `:has` each message that comes would have the page looked through.
  private func showPanes(_ place: Place) {
    var classes = "ma-body"
    if place.room != nil { classes += " ma-shows-room" }
    if place.showsDetails { classes += " ma-shows-details" }
    if showsPanel { classes += " ma-shows-panel" }
    guard !classes.hasSameBytes(as: shownClass) else { return }
    shownClass = classes
    dom.setClass(body, classes)
  }

  /// In a wide window a call with pictures stands beside the messages of its room.
  private func showCall() {
    let isBeside = calls.ongoing.map { $0.isSeen && $0.room == app.place.room } ?? false
    dom.setClass(center, isBeside ? "ma-center ma-has-call" : "ma-center")
  }

  func show(_ place: Place) {
    showPanes(place)
    showCall()
    room?.show(place.room)
    // What was asked for last is seen.
    if place.showsDetails { room?.panel.show(nil) }
    calls.show(place.room)
    if place.showsDetails { app.need(.more) { [self] in showDetails() } } else { details?.show(nil) }
    list.select(place.room)
    security.update()
    showAdministration(place)
  }

  private func showAdministration(_ place: Place) {
    guard case .administration(let address) = place else {
      guard let screen = administration else { return }
      administration = nil
      screen.close()
      dom.setFlag(body, "hidden", false)
      return list.takeFocus()
    }
    dom.setFlag(body, "hidden", true)
    app.need(.administration) { [self] in
      guard app.main === self, app.place == place else { return }
      let screen = administration ?? AdministrationScreen(app.administrationContext, in: root)
      administration = screen
      screen.show(address)
    }
  }

  private func showDetails() {
    guard app.main === self, room != nil, app.place.showsDetails else { return }
    let pane = details ?? DetailsPane(app, in: body)
    details = pane
    pane.show(app.place.room)
  }

  /// What is known of the encryption, or who asks for a verification.
  func encryptionChanged() {
    security.update()
    list.encryptionChanged()
    room?.identitiesChanged()
  }

  /// Somebody is verified now.
  func trustChanged() { details?.trustChanged() }

  func changed(_ change: Change) {
    switch change {
    case .connection:
      banner.update()
      list.connectionChanged()
      room?.roomsChanged()
    case .roomOrder: room?.roomsChanged()
    case .roomList(let id, let changes): list.changed(id, changes)
    case .spaces:
      list.spacesChanged()
      room?.roomsChanged()
    case .room(let id, let aspects):
      list.update(id)
      if !aspects.isDisjoint(with: [.name, .tags]), app.client.spaces.isSpace(id) { list.spacesChanged() }
      if aspects.contains(.settings), id == app.place.room { security.update() }
      room?.changed(id, aspects)
      calls.changed(id, aspects)
      details?.changed(id, aspects)
    case .timeline(let key, let changes): room?.changed(key, changes)
    case .members(let id, let users):
      list.update(id)
      room?.membersChanged(id, users)
      details?.membersChanged(id, users)
    case .readCounts(let id, _): room?.readCountsChanged(id)
    case .profile:
      list.showProfile()
      room?.roomsChanged()
    case .pushRules:
      list.pushRulesChanged()
      room?.roomsChanged()
    case .ignoredUsers: details?.ignoredChanged()
    case .presence(let users):
      list.presenceChanged(users)
      room?.roomsChanged()
      if let id = app.place.room { details?.membersChanged(id) }
    case .arrived(let id, let events): calls.arrived(id, events)
    case .spaceCounts(let spaces): list.spaceCountsChanged(spaces)
    case .session, .commandFinished, .sending, .storeFailed, .breadcrumbs, .receipts, .accountData, .quietHours:
      break
    }
  }

  /// All changes of one step are in.
  func settle() {
    calls.settle()
    list.settle()
    room?.settle()
    details?.settle()
    goToWanted()
  }

  /// To the message that an address named, as soon as the room and its messages are there.
  private func goToWanted() {
    guard let room, let event = app.wanted, let id = app.place.room, app.client.room(id)?.membership == .join,
      app.client.timeline(.live(id))?.loadState == .loaded
    else { return }
    app.wanted = nil
    room.go(to: event)
  }
}
