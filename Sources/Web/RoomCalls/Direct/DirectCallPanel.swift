import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// One call: the other person, the pictures and the buttons. It lies beside the messages, which stay usable.
final class DirectCallPanel<D: DOM> {
  var call: CallHandle
  private let dom: D
  private let calls: DirectCalls<D>
  private let root: Node
  private let avatar: AvatarView<D>
  private var title: TextView<D>
  private var line: TextView<D>
  private let stage: Node
  private var buttons: CallButtons<D>?
  private var floating: FloatingPicture<D>?
  private var edge: StageEdge<D>?
  private var deviceMenu: DeviceMenu<D>?
  /// Own camera and microphone.
  private var source: SourceID?
  private var pictures: [Picture] = []
  private(set) var showsPictures = false
  /// What this side sends.
  private var own = (isMuted: false, isCameraOff: false, isSharing: false)
  private var isCameraOpening = false
  private var hasListed = false
  private var talksSince: Double?
  private var room: RoomID?
  /// The user is looking at another room: the call is a small window over it.
  private var isElsewhere = false
  private var shownClasses = "dc-call"
  private var clock: HostTask?

  private struct Picture {
    /// As the browser's media know it.
    let stream: String
    let isOwn: Bool
    let isSoundOnly: Bool
    var node = Node.none

    init(_ stream: String, isOwn: Bool = false, isSoundOnly: Bool = false) {
      self.stream = stream
      self.isOwn = isOwn
      self.isSoundOnly = isSoundOnly
    }

    var classes: String {
      "dc-picture" + (isOwn ? " dc-own" : isSoundOnly ? " dc-sound" : "")
    }
  }

  init(_ calls: DirectCalls<D>, _ call: CallHandle, in place: Node) {
    self.calls = calls
    self.call = call
    dom = calls.desk.dom
    root = dom.element("section", "dc-call", in: place)
    let head = dom.element("div", "dc-head", in: root)
    avatar = AvatarView(dom, "ma-avatar-small", in: head)
    let lines = dom.element("div", "ma-title-lines", in: head)
    title = TextView(dom, "h3", "ma-room-name", in: lines)
    line = TextView(dom, "p", "ma-room-line", in: lines)
    dom.setAttribute(line.node, "role", "status")
    stage = dom.element("div", "dc-stage", in: root)
    edge = StageEdge(dom, of: stage, in: root)
    buttons = CallButtons(dom, "dc-buttons", in: root) { [self] in pressed($0) }
    floating = FloatingPicture(dom, in: stage) { [calls] in calls.float($0) }
  }

  func close() {
    clock?.cancel()
    floating?.close()
    dom.release(root)
  }

  /// What the browser's media tell.
  func heard(_ json: JSON) { floating?.heard(json) }

  // MARK: Showing

  func show(_ call: MatrixCall, _ media: MediaPort) {
    let name = calls.name(call)
    avatar.show(
      id: (call.opponent ?? call.invitee)?.string ?? call.room.string, name: name, source: calls.desk.room(call.room)?.avatar)
    title.set(name)
    dom.setAttribute(root, "aria-label", Word.callOf.text(name))
    isElsewhere = call.state != .ringing && call.room != calls.desk.shown
    // The header of its room shows the other person. Who calls is shown large, wherever that is.
    let isHere = call.room == calls.desk.shown && call.state != .ringing
    for node in [avatar.node, title.node] { dom.setFlag(node, "hidden", isHere) }
    room = call.room
    showState(call, name)
    showPictures(call, name, media)
    setClasses(call)
    showButtons(call)
    deviceMenu?.show(calls.devices)
  }

  private func setClasses(_ call: MatrixCall) {
    var classes = "dc-call " + (isElsewhere ? "rc-elsewhere" : call.state == .ringing ? "rc-rings" : "rc-here")
    if showsPictures { classes += " dc-seen" }
    guard !classes.hasSameBytes(as: shownClasses) else { return }
    shownClasses = classes
    dom.setClass(root, classes)
  }

  private func showState(_ call: MatrixCall, _ name: String) {
    switch call.state {
    case .ringing: line.set((call.hasVideo ? Word.callsYouWithCamera : .callsYou).text(name))
    case .calling: line.set(Word.callRings.text)
    case .connected where !call.isInterrupted:
      if talksSince == nil { talksSince = Host.monotonicMilliseconds() }
      if call.remote.contains(where: { $0.purpose == .userMedia && $0.isAudioMuted }) {
        clock?.cancel()
        clock = nil
        line.set(Word.theirMicrophoneOff.text(name))
      } else if clock == nil {
        tick()
      }
    default:
      clock?.cancel()
      clock = nil
      line.set((talksSince == nil ? Word.callConnects : .callInterrupted).text)
    }
  }

  private func tick() {
    line.set(CallClock.text(since: talksSince))
    dom.flush()
    clock = Host.after(milliseconds: 1_000) { [self] in tick() }
  }

  /// The other side's first, the screen before the person; the own one last, small.
  private func showPictures(_ call: MatrixCall, _ name: String, _ media: MediaPort) {
    var wanted: [Picture] = []
    if call.isAnswered {
      for purpose in [StreamPurpose.screenShare, .userMedia] {
        for remote in call.remote where remote.purpose == purpose {
          wanted.append(Picture("\(call.handle)/" + remote.stream.string, isSoundOnly: remote.isVideoMuted))
        }
      }
    }
    if call.state != .ringing {
      for local in call.local where local.purpose == .userMedia && local.hasPicture && !local.isVideoMuted {
        wanted.append(Picture("own/\(local.source)", isOwn: true))
      }
    }
    pictures.removeAll { picture in
      if wanted.contains(where: { $0.stream.hasSameBytes(as: picture.stream) }) { return false }
      dom.release(picture.node)
      return true
    }
    for var picture in wanted {
      if let known = pictures.first(where: { $0.stream.hasSameBytes(as: picture.stream) }) {
        dom.setClass(known.node, picture.classes)
        continue
      }
      picture.node = dom.element("video", picture.classes, in: stage)
      dom.setAttribute(picture.node, "aria-label", picture.isOwn ? Word.ownPicture.text : Word.pictureOf.text(name))
      for flag in ["autoplay", "playsinline"] { dom.setFlag(picture.node, flag, true) }
      if picture.isOwn { dom.setFlag(picture.node, "muted", true) }
      pictures.append(picture)
      dom.flush()
      media.show(picture.stream, in: picture.node)
    }
    showsPictures = wanted.contains { !$0.isSoundOnly }
    dom.setClass(stage, showsPictures ? "dc-stage" : "dc-stage dc-bare")
    floating?.show(wanted.first { !$0.isOwn && !$0.isSoundOnly }?.stream)
  }

  // MARK: Buttons

  private func showButtons(_ call: MatrixCall) {
    let camera = call.local.first { $0.purpose == .userMedia }
    source = camera?.source
    own.isMuted = camera?.isAudioMuted ?? false
    own.isCameraOff = camera.map { $0.isVideoMuted || !$0.hasPicture } ?? false
    let isOpening = camera?.isCameraOpening ?? false
    if isCameraOpening, !isOpening, !call.hasOwnPicture { calls.desk.tell(Word.callNoCamera.text, isTrouble: true) }
    isCameraOpening = isOpening
    // Whether there is another camera is known once the page may use one.
    if call.hasOwnPicture, !hasListed {
      hasListed = true
      calls.listDevices()
    }
    own.isSharing = call.local.contains { $0.purpose == .screenShare }
    buttons?.show(call.state == .ringing ? answers(call) : controls(call))
  }

  private func answers(_ call: MatrixCall) -> [CallButtons<D>.Face] {
    let withCamera = CallButtons<D>.Face(press: .answerWithCamera, word: .callAnswerWithCamera)
    let decline = CallButtons<D>.Face(press: .decline, word: .callDecline)
    // Another call goes on, which ends where this one is answered.
    if calls.isInAnyCall {
      return [.init(press: call.hasVideo ? .answerWithCamera : .answer, word: .callHangUpAndAnswer), decline]
    }
    return (call.hasVideo ? [withCamera] : []) + [.init(press: .answer, word: .callAnswer), decline]
  }

  private func controls(_ call: MatrixCall) -> [CallButtons<D>.Face] {
    var faces: [CallButtons<D>.Face] = [.microphone(isOff: own.isMuted)]
    if isElsewhere { return [.back] + faces + [.end] }
    if call.hasOwnPicture || call.canOpenCamera || isCameraOpening { faces.append(.camera(isOff: own.isCameraOff)) }
    if call.hasOwnPicture, !own.isCameraOff, offersTurning(calls.devices) { faces.append(.turn) }
    if call.state == .connected { faces.append(.screen(isShared: own.isSharing)) }
    if source != nil { faces.append(.devices) }
    return faces + [.end]
  }

  private func pressed(_ press: CallButtons<D>.Press) {
    switch press {
    case .microphone: calls.perform(.mute(call, audio: !own.isMuted, video: nil))
    case .camera: calls.perform(.mute(call, audio: nil, video: !own.isCameraOff))
    case .turn: if let source { calls.turnCamera(of: source) }
    case .screen: calls.perform(.shareScreen(call, !own.isSharing))
    case .devices: toggleDevices()
    case .back: if let room { calls.desk.open(room) }
    case .end: calls.perform(.hangUp(call))
    case .answer, .answerWithCamera:
      if let room { calls.desk.prepare(toAnswer: call, in: room, withCamera: press == .answerWithCamera) }
    case .decline: calls.decline(call)
    case .layout: break
    }
  }

  private func toggleDevices() {
    if let menu = deviceMenu {
      menu.close()
      deviceMenu = nil
    } else {
      deviceMenu = DeviceMenu(dom, in: root) { [self] device in
        if let source { calls.use(device, for: source) }
      }
      deviceMenu?.show(calls.devices)
      calls.listDevices()
    }
    dom.flush()
  }
}

extension MatrixCall {
  /// Whether the camera is open, shown to the other side or not.
  var hasOwnPicture: Bool { local.contains { $0.purpose == .userMedia && $0.hasPicture } }
}
