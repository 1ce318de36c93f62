import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// One call: who it is with, the pictures, what one can do. It lies beside the messages, which stay in use.
final class DirectCallPanel<D: DOM> {
  var call: CallHandle
  private let dom: D
  private let calls: DirectCalls<D>
  private let root: Node
  private let avatar: AvatarView<D>
  private var title: TextView<D>
  private var line: TextView<D>
  private let stage: Node
  private let buttons: Node
  private var deviceMenu: DeviceMenu<D>?
  /// Own camera and microphone.
  private var source: SourceID?
  private var pictures: [Picture] = []
  private var shownButtons = Buttons()
  private var talksSince: Double?
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

  /// What the buttons depend on.
  private struct Buttons: Equatable {
    var isRinging = false
    var hasCamera = false
    var isMuted = false
    var isCameraOff = false
    var isSharing = false
    var canShare = false
    var hasDevices = false
    /// Another call goes on, which ends where this one is answered.
    var isBehind = false
    var isMade = false
  }

  init(_ calls: DirectCalls<D>, _ call: CallHandle, in place: Node) {
    self.calls = calls
    self.call = call
    dom = calls.desk.dom
    root = dom.element("section", "dc-call", in: place)
    let head = dom.element("div", "dc-head", in: root)
    avatar = AvatarView(dom, "ma-avatar-small", in: head)
    let lines = dom.element("div", "ma-title-lines", in: head)
    title = TextView(dom, "h2", "ma-room-name", in: lines)
    line = TextView(dom, "p", "ma-room-line", in: lines)
    dom.setAttribute(line.node, "role", "status")
    stage = dom.element("div", "dc-stage", in: root)
    buttons = dom.element("div", "dc-buttons", in: root)
  }

  func close() {
    clock?.cancel()
    dom.release(root)
  }

  // MARK: Showing

  func show(_ call: MatrixCall, _ media: MediaPort) {
    let name = calls.name(call)
    avatar.show(
      id: (call.opponent ?? call.invitee)?.string ?? call.room.string, name: name, source: calls.desk.room(call.room)?.avatar)
    title.set(name)
    dom.setAttribute(root, "aria-label", Word.callOf.text(name))
    showState(call, name)
    showPictures(call, name, media)
    showButtons(call)
    deviceMenu?.show(calls.devices)
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
    dom.setClass(stage, wanted.contains { !$0.isSoundOnly } ? "dc-stage" : "dc-stage dc-bare")
  }

  // MARK: Buttons

  private func showButtons(_ call: MatrixCall) {
    let own = call.local.first { $0.purpose == .userMedia }
    source = own?.source
    let wanted = Buttons(
      isRinging: call.state == .ringing, hasCamera: call.state == .ringing ? call.hasVideo : call.hasOwnPicture,
      isMuted: own?.isAudioMuted ?? false, isCameraOff: own?.isVideoMuted ?? false,
      isSharing: call.local.contains { $0.purpose == .screenShare }, canShare: call.state == .connected,
      hasDevices: own != nil, isBehind: call.state == .ringing && calls.isInAnyCall, isMade: true)
    guard wanted != shownButtons else { return }
    shownButtons = wanted
    dom.releaseChildren(of: buttons)
    if wanted.isRinging {
      if wanted.isBehind {
        words(.callHangUpAndAnswer, "ma-button ma-primary", wanted.hasCamera ? .answerWithCamera : .answer)
        return words(.callDecline, "ma-button ma-danger", .decline)
      }
      if wanted.hasCamera { words(.callAnswerWithCamera, "ma-button ma-primary", .answerWithCamera) }
      words(.callAnswer, wanted.hasCamera ? "ma-button" : "ma-button ma-primary", .answer)
      return words(.callDecline, "ma-button ma-danger", .decline)
    }
    button(wanted.isMuted ? .microphoneOn : .microphoneOff, wanted.isMuted ? .microphoneOff : .microphone, .microphone)
    if wanted.hasCamera {
      button(wanted.isCameraOff ? .cameraOn : .cameraOff, wanted.isCameraOff ? .cameraOff : .camera, .camera)
    }
    if wanted.canShare { button(wanted.isSharing ? .stopSharing : .shareScreen, .screen, .screen) }
    if wanted.hasDevices { button(.groupCallDevices, .devices, .devices) }
    button(.callEnd, .hangUp, .end)
  }

  private func words(_ word: Word, _ classes: String, _ press: Press) {
    let node = dom.element("button", classes, in: buttons)
    dom.setAttribute(node, "type", "button")
    dom.element("span", "ma-button-text", text: word.text, in: node)
    listen(node, press)
  }

  private func button(_ word: Word, _ icon: CallIcon, _ press: Press) {
    listen(dom.iconButton(icon, word.text, press == .end ? "ma-round rc-end" : "ma-round", in: buttons), press)
  }

  private func listen(_ node: Node, _ press: Press) {
    dom.on(node, .click) { [self] _ in pressed(press) }
  }

  private func pressed(_ press: Press) {
    switch press {
    case .microphone: calls.perform(.mute(call, audio: !shownButtons.isMuted, video: nil))
    case .camera: calls.perform(.mute(call, audio: nil, video: !shownButtons.isCameraOff))
    case .screen: calls.perform(.shareScreen(call, !shownButtons.isSharing))
    case .devices: toggleDevices()
    case .end: calls.perform(.hangUp(call))
    case .answer: calls.answer(call, withCamera: false)
    case .answerWithCamera: calls.answer(call, withCamera: true)
    case .decline: calls.decline(call)
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

  private enum Press { case microphone, camera, screen, devices, end, answer, answerWithCamera, decline }
}

extension MatrixCall {
  /// Whether the camera is open, shown to the other side or not.
  var hasOwnPicture: Bool { local.contains { $0.purpose == .userMedia && $0.hasPicture } }
}
