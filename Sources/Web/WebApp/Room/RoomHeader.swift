import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Above the messages: the way back, who or what this is, the way to the details.
final class RoomHeader<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let avatar: AvatarView<D>
  /// Takes the focus when the room is opened, so that a screen reader says which.
  let title: Node
  private var name: TextView<D>
  private let safety: Node
  private let safetySign: Node
  private var safetyWord: TextView<D>
  private var line: TextView<D>
  private let details: Node
  /// On a phone: the name opens them.
  private let detailsByName: Node
  private let voice: Node
  private let camera: Node
  private let search: Node
  private let menu: Node
  private let muted: Node
  private let pins: Node
  private var pinned = 0
  var onSearch: (() -> Void)?
  /// With or without the camera.
  var onCall: ((Bool) -> Void)?
  var offersGroupCalls: () -> Bool = { false }
  /// Whether the user is in that room's call.
  var isInCall: (RoomID) -> Bool = { _ in false }
  /// Whether the other one can be called with a picture.
  private(set) var offersVideo = false
  var onMenu: (() -> Void)?
  var onPins: (() -> Void)?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("header", "ma-header ma-room-header", in: parent)
    dom.markPart(node)
    let back = dom.button("ma-round ma-back", icon: .back, label: .back, in: node)
    let box = dom.element("div", "ma-room-title", in: node)
    avatar = dom.avatar("ma-avatar-small", in: box)
    let lines = dom.element("div", "ma-title-lines", in: box)
    name = TextView(dom, "h2", "ma-room-name", in: lines)
    title = name.node
    dom.setAttribute(title, "tabindex", "-1")
    muted = dom.element("span", "ma-room-muted", in: box)
    dom.setAttribute(muted, "role", "img")
    dom.setLabel(muted, .notificationsOff)
    dom.setAttribute(muted, "title", Strings[.notificationsOff])
    Drawing.muted.draw(dom, in: muted)
    let below = dom.element("div", "ma-room-below", in: lines)
    safety = dom.element("span", "ma-room-safety", in: below)
    safetySign = dom.element("span", "ma-room-safety-sign", in: safety)
    safetyWord = TextView(dom, "span", "ma-room-safety-word", in: safety)
    line = TextView(dom, "p", "ma-room-line", in: below)
    detailsByName = dom.button("ma-room-open ma-narrow-only", label: Strings[.details], in: box)
    pins = dom.button("ma-round ma-round-small ma-wide-only", icon: .pin, in: node)
    dom.setFlag(pins, "hidden", true)
    voice = dom.button("ma-round", icon: .phone, label: .callThem, in: node)
    camera = dom.button("ma-round ma-wide-only", icon: .camera, label: .callThemWithCamera, in: node)
    search = dom.button("ma-round ma-wide-only", icon: .search, label: .searchRoom, in: node)
    menu = dom.button("ma-round", icon: .more, label: .roomMenu, in: node)
    details = dom.button("ma-round ma-wide-only", icon: .people, label: .details, in: node)
    dom.on(back, .click) { _ in app.goTo(.list) }
    dom.on(pins, .click) { [self] _ in onPins?() }
    dom.on(voice, .click) { [self] _ in onCall?(false) }
    dom.on(camera, .click) { [self] _ in onCall?(true) }
    dom.on(search, .click) { [self] _ in onSearch?() }
    dom.on(menu, .click) { [self] _ in onMenu?() }
    for button in [details, detailsByName] { dom.on(button, .click) { [self] _ in openDetails() } }
  }

  func setShown(_ isShown: Bool) { dom.setFlag(node, "hidden", !isShown) }

  func openDetails() {
    guard let room = app.place.room else { return }
    app.goTo(app.place.showsDetails ? .room(room) : .details(room))
  }

  func update(_ id: RoomID, _ room: Room?) {
    let title = room.map { Strings.words(for: $0.name) } ?? Strings[.unnamedRoom]
    avatar.show(id: room?.directUserID?.string ?? id.string, name: title, source: app.avatarSource(room?.avatar))
    name.set(title)
    dom.setFlag(muted, "hidden", room?.membership != .join || !isMuted(id))
    line.set(room.map(subtitle) ?? "")
    showSafety(room?.membership == .join ? room : nil)
    let count = room?.membership == .join ? room?.pinnedEvents.count ?? 0 : 0
    if count != pinned {
      pinned = count
      dom.setFlag(pins, "hidden", count == 0)
      dom.setLabel(pins, Strings[.pinnedCount, count: count])
      dom.setAttribute(pins, "title", Strings[.pinnedCount, count: count])
    }
    let isDirect = room?.isDirect ?? false
    // Direct calls are signalled by messages, which are encrypted as others are; calls of rooms by state.
    let canSignal = !(isDirect && room?.isEncrypted ?? false) || app.client.encrypts
    let canCall = room?.membership == .join && Host.canCall && canSignal && !isInCall(id)
    offersVideo = canCall && isDirect
    dom.setFlag(voice, "hidden", !canCall || !isDirect && !offersGroupCalls())
    dom.setFlag(camera, "hidden", !offersVideo)
    for node in [search, menu, details, detailsByName] { dom.setFlag(node, "hidden", room?.membership != .join) }
  }

  /// A room that the user is not in.
  func update(_ room: RoomSummary) {
    let title = room.title
    avatar.show(id: room.id.string, name: title, source: app.avatarSource(room.avatar))
    name.set(title)
    line.set(room.about)
    showSafety(nil)
    offersVideo = false
    for node in [muted, pins, voice, camera, search, menu, details, detailsByName] { dom.setFlag(node, "hidden", true) }
    pinned = 0
  }

  /// Who can read what is written here.
  private func showSafety(_ room: Room?) {
    dom.setFlag(safety, "hidden", room == nil)
    guard let room, !Strings[room.safetyName].hasSameBytes(as: safetyWord.text) else { return }
    safetyWord.set(Strings[room.safetyName])
    dom.setAttribute(safety, "title", Strings[room.safetyNote])
    dom.releaseChildren(of: safetySign)
    room.safetySign.draw(dom, in: safetySign)
  }

  private func isMuted(_ id: RoomID) -> Bool {
    app.client.notificationMode(of: id) == .mute
  }

  private func subtitle(_ room: Room) -> String {
    if room.isServerNotice { return Strings[.fromServer] }
    let topic = room.topic?.string
    if let user = room.directUserID { return topic ?? app.client.presence(of: user).map { Strings.words(for: $0) } ?? "" }
    guard room.membership == .join else { return topic ?? "" }
    let members = Strings.memberCount(of: room)
    return topic.map { members + " · " + $0 } ?? members
  }
}
