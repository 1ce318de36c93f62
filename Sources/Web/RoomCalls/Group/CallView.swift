import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The call on the page: who is in it, in a grid or with one of them large, and the controls. It lies above the messages, which stay
/// in use.
final class CallView<D: DOM> {
  private let dom: D
  private let call: OngoingCall<D>
  private let root: Node
  private let title: Node
  private let line: Node
  private let badge: Node
  private let seal: Node
  private let stage: Node
  private var buttons: CallButtons<D>?
  private var floating: FloatingPicture<D>?
  private var edge: StageEdge<D>?
  private var deviceMenu: DeviceMenu<D>?
  private var tiles: [TileView<D>] = []
  /// Whether the tiles have a moderator's buttons.
  private var isModerator = false
  private var layout = Layout()
  private var shownLine = ""
  private var shownTitle = ""
  private var clock: HostTask?
  /// Who is large, until somebody else speaks.
  private var large: ByteString?
  /// The last one who spoke and was seen.
  private var spoke: ByteString?

  private struct Layout: Equatable {
    var isGrid = true
    var columns = 0
    var width = 0.0
    var height = 0.0
  }

  init(_ dom: D, _ call: OngoingCall<D>) {
    self.dom = dom
    self.call = call
    root = dom.element("section", "gc-call", in: .root)
    let head = dom.element("div", "gc-head", in: root)
    title = dom.element("h3", "gc-title", in: head)
    line = dom.element("p", "gc-line", in: head)
    dom.setAttribute(line, "role", "status")
    seal = dom.element("p", "gc-sealed", in: head)
    CallIcon.lock.draw(dom, in: seal)
    dom.setText(dom.element("span", in: seal), Word.groupCallSealed.text)
    badge = dom.element("p", "gc-recorded", in: head)
    dom.setAttribute(badge, "role", "status")
    stage = dom.element("div", "gc-stage", in: root)
    edge = StageEdge(dom, of: stage, in: root)
    buttons = CallButtons(dom, "gc-buttons", in: root) { [self] in pressed($0) }
    floating = FloatingPicture(dom, in: stage) { [call] in call.host?.media?.float($0) }
    dom.on(stage, .resize) { [self] event in
      layout.width = event.x
      layout.height = event.y
      show()
      dom.flush()
    }
  }

  func close() {
    clock?.cancel()
    floating?.close()
    dom.release(root)
    dom.flush()
  }

  /// What the browser's media tell.
  func heard(_ json: JSON) { floating?.heard(json) }

  // MARK: Showing

  /// One looks at another room: the call is a small window over it.
  private var isElsewhere: Bool { call.isElsewhere }
  private var wasElsewhere: Bool?

  func show() {
    let name = Word.groupCallIn.text(call.known?.name ?? call.room.string)
    set(title, name, &shownTitle)
    dom.setAttribute(root, "aria-label", name)
    if isElsewhere != wasElsewhere {
      wasElsewhere = isElsewhere
      dom.setClass(root, isElsewhere ? "gc-call rc-elsewhere" : "gc-call rc-here")
      // The header of its room says where it is.
      dom.setFlag(title, "hidden", !isElsewhere)
    }
    showState()
    dom.setFlag(seal, "hidden", call.sealed == nil)
    dom.setText(badge, call.session?.recording == nil ? "" : Word.groupCallRecorded.text)
    dom.setFlag(badge, "hidden", call.session?.recording == nil)
    showTiles()
    showButtons()
    deviceMenu?.show(call.devices)
  }

  private func set(_ node: Node, _ text: String, _ shown: inout String) {
    guard !text.hasSameBytes(as: shown) else { return }
    shown = text
    dom.setText(node, text)
  }

  private func showState() {
    switch call.session?.state {
    case .connected:
      if clock == nil { tick() }
    default:
      clock?.cancel()
      clock = nil
      set(line, call.joinedAt == nil ? Word.callConnects.text : Word.callInterrupted.text, &shownLine)
    }
  }

  private func tick() {
    let people = Word.groupCallPeople.text(count: (call.session?.connections.count ?? 0) + 1)
    set(line, people + " · " + CallClock.text(since: call.joinedAt), &shownLine)
    dom.flush()
    clock = Host.after(milliseconds: 1_000) { [self] in tick() }
  }

  private func showTiles() {
    let models = call.tiles()
    let before = isModerator
    if let role = call.session?.connection?.role { isModerator = role == .moderator }
    let areOthers = isModerator != before
    tiles.removeAll { tile in
      if !areOthers, models.contains(where: { $0.key == tile.key }) { return false }
      tile.close()
      return true
    }
    let big = chosen(models)
    for model in models {
      let tile = self.tile(model.key) ?? make(model)
      tile.show(model, isLarge: big.map { $0 == model.key } ?? false)
    }
    arrange(models.count, big)
    for model in models where model.isStream { prefer(model, big) }
    floating?.show(watched(models))
  }

  /// The stream for a window of its own: a shared screen, else the last speaker with a picture, else the first person with one.
  private func watched(_ models: [TileModel]) -> String? {
    let seen = models.filter { $0.hasPicture && !$0.isOwn && !$0.track.utf8.isEmpty }
    if let speaker = seen.first(where: { $0.speaks }) { spoke = speaker.key }
    return (seen.first { $0.isScreen } ?? seen.first { $0.key == spoke } ?? seen.first)?.track
  }

  private func tile(_ key: ByteString) -> TileView<D>? { tiles.first { $0.key == key } }

  private func make(_ model: TileModel) -> TileView<D> {
    let tile = TileView(
      dom, call, model.key, isModerator: isModerator, isOwn: model.isOwn, in: stage)
    tiles.append(tile)
    return tile
  }

  /// Returns the tile that the layout shows large: a screen, else the current or last speaker, else the first. nil in a grid.
  private func chosen(_ models: [TileModel]) -> ByteString? {
    let screen = models.first { $0.kind == .screen }
    guard !layout.isGrid || screen != nil else { return nil }
    if let screen { return screen.key }
    if let speaker = models.first(where: { $0.speaks && !$0.isOwn }) { large = speaker.key }
    if let large, models.contains(where: { $0.key == large }) { return large }
    large = models.first?.key
    return large
  }

  private func arrange(_ count: Int, _ big: ByteString?) {
    dom.setClass(stage, big == nil ? "gc-stage" : "gc-stage gc-speaker")
    let columns = CallView.columns(count, width: layout.width, height: layout.height)
    guard columns != layout.columns else { return }
    layout.columns = columns
    dom.setStyle(stage, "--gc-columns", "\(columns)")
  }

  /// As many as make the pictures (4 by 3) largest.
  static func columns(_ count: Int, width: Double, height: Double) -> Int {
    guard count > 1, width > 0, height > 0 else { return 1 }
    var best = (columns: 1, width: 0.0)
    for columns in 1...count {
      let rows = (count + columns - 1) / columns
      let fitting = min(width / Double(columns), height / Double(rows) * 4 / 3)
      if fitting > best.width { best = (columns, fitting) }
    }
    return best.columns
  }

  /// The server sends no more than is shown.
  private func prefer(_ model: TileModel, _ big: ByteString?) {
    guard let stream = call.session?.stream(model.key) else { return }
    let width = big == nil ? layout.width / Double(max(1, layout.columns)) : big == model.key ? layout.width : 160
    var wanted = stream.preference
    wanted.width = width <= 0 || width > 640 ? nil : width > 320 ? 640 : 320
    if model.isScreen { wanted.width = nil }
    if wanted != stream.preference { call.perform(.prefer(stream.id, wanted)) }
  }

  // MARK: Buttons

  private func showButtons() {
    let own = call.session?.publication(OngoingCall<D>.camera)
    if isElsewhere { return buttons?.show([.back, .microphone(isOff: !(own?.hasAudio ?? false)), .end]) ?? () }
    let isSeen = own?.hasVideo ?? false
    var faces: [CallButtons<D>.Face] = [.microphone(isOff: !(own?.hasAudio ?? false)), .camera(isOff: !isSeen)]
    if isSeen, offersTurning(call.devices) { faces.append(.turn) }
    faces.append(.screen(isShared: call.session?.publication(OngoingCall<D>.screen) != nil))
    faces.append(
      .init(press: .layout, word: layout.isGrid ? .groupCallSpeaker : .groupCallGrid, icon: layout.isGrid ? .speaker : .grid))
    buttons?.show(faces + [.devices, .end])
  }

  private func pressed(_ press: CallButtons<D>.Press) {
    switch press {
    case .microphone: call.toggle(.audio)
    case .camera: call.toggle(.video)
    case .turn: call.turnCamera()
    case .screen: call.toggleScreen()
    case .layout:
      layout.isGrid.toggle()
      show()
    case .devices: toggleDevices()
    case .back: call.open()
    case .end: call.hangUp()
    case .answer, .answerWithCamera, .decline: break
    }
    dom.flush()
  }

  private func toggleDevices() {
    if let menu = deviceMenu {
      menu.close()
      deviceMenu = nil
    } else {
      deviceMenu = DeviceMenu(dom, in: root) { [call] in call.use($0) }
      call.host?.media?.listDevices()
      deviceMenu?.show(call.devices)
    }
    show()
  }
}
