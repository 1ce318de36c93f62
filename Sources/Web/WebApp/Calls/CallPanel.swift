import CallCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// One call: who it is with, the pictures, what one can do. It lies beside the messages, which stay in use.
final class CallPanel<D: DOM> {
  var call: CallHandle
  private let app: App<D>
  private let dom: D
  private let desk: CallDesk<D>
  private let root: Node
  private let avatar: AvatarView<D>
  private var title: TextView<D>
  private var line: TextView<D>
  private let stage: Node
  private let buttons: Node
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
      "ma-call-picture" + (isOwn ? " ma-call-own" : isSoundOnly ? " ma-call-sound" : "")
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
    var isMade = false
  }

  init(_ app: App<D>, _ desk: CallDesk<D>, _ call: CallHandle, in place: Node) {
    self.app = app
    self.desk = desk
    self.call = call
    dom = app.dom
    root = dom.element("section", "ma-call", in: place)
    let head = dom.element("div", "ma-call-head", in: root)
    avatar = dom.avatar("ma-avatar-small", in: head)
    let lines = dom.element("div", "ma-title-lines", in: head)
    title = TextView(dom, "h2", "ma-room-name", in: lines)
    line = TextView(dom, "p", "ma-room-line", in: lines)
    dom.setAttribute(line.node, "role", "status")
    stage = dom.element("div", "ma-call-stage", in: root)
    buttons = dom.element("div", "ma-call-buttons", in: root)
  }

  func close() {
    clock?.cancel()
    dom.release(root)
  }

  // MARK: Showing

  func show(_ call: MatrixCall, _ media: MediaPort) {
    let name = desk.name(call)
    let room = app.client.room(call.room)
    avatar.show(
      id: (call.opponent ?? call.invitee)?.string ?? call.room.string, name: name, source: app.avatarSource(room?.avatar))
    title.set(name)
    dom.setLabel(root, Strings[.callOf, name])
    showState(call, name)
    showPictures(call, name, media)
    showButtons(call)
  }

  private func showState(_ call: MatrixCall, _ name: String) {
    switch call.state {
    case .ringing: line.set(Strings[call.hasVideo ? .callsYouWithCamera : .callsYou, name])
    case .calling: line.set(Strings[.callRings])
    case .connected:
      if talksSince == nil { talksSince = Host.monotonicMilliseconds() }
      if call.remote.contains(where: { $0.purpose == .userMedia && $0.isAudioMuted }) {
        clock?.cancel()
        clock = nil
        line.set(Strings[.theirMicrophoneOff, name])
      } else if clock == nil {
        tick()
      }
    default:
      clock?.cancel()
      clock = nil
      line.set(Strings[talksSince == nil ? .callConnects : .callInterrupted])
    }
  }

  private func tick() {
    let passed = Host.monotonicMilliseconds() - (talksSince ?? 0)
    line.set(passed < 500 ? "0:00" : ClockText.minutes(Int64(passed)))
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
      dom.setLabel(picture.node, picture.isOwn ? Strings[.ownPicture] : Strings[.pictureOf, name])
      for flag in ["autoplay", "playsinline"] { dom.setFlag(picture.node, flag, true) }
      if picture.isOwn { dom.setFlag(picture.node, "muted", true) }
      pictures.append(picture)
      dom.flush()
      media.show(picture.stream, in: picture.node)
    }
    dom.setClass(stage, wanted.contains { !$0.isSoundOnly } ? "ma-call-stage" : "ma-call-stage ma-call-bare")
  }

  // MARK: Buttons

  private func showButtons(_ call: MatrixCall) {
    let own = call.local.first { $0.purpose == .userMedia }
    let wanted = Buttons(
      isRinging: call.state == .ringing, hasCamera: call.state == .ringing ? call.hasVideo : call.hasOwnPicture,
      isMuted: own?.isAudioMuted ?? false, isCameraOff: own?.isVideoMuted ?? false,
      isSharing: call.local.contains { $0.purpose == .screenShare }, canShare: call.state == .connected, isMade: true)
    guard wanted != shownButtons else { return }
    shownButtons = wanted
    dom.releaseChildren(of: buttons)
    if wanted.isRinging {
      if wanted.hasCamera { words(.callAnswerWithCamera, "ma-button ma-primary", .answerWithCamera) }
      words(.callAnswer, wanted.hasCamera ? "ma-button" : "ma-button ma-primary", .answer)
      return words(.callDecline, "ma-button ma-danger", .decline)
    }
    button(wanted.isMuted ? .microphoneOn : .microphoneOff, wanted.isMuted ? .microphoneOff : .microphone, .microphone)
    if wanted.hasCamera {
      button(wanted.isCameraOff ? .cameraOn : .cameraOff, wanted.isCameraOff ? .cameraOff : .camera, .camera)
    }
    if wanted.canShare { button(wanted.isSharing ? .stopSharing : .shareScreen, .screen, .screen) }
    button(.callEnd, .hangUp, .end)
  }

  private func words(_ key: Strings.Key, _ classes: String, _ press: Press) {
    listen(dom.button(classes, Strings[key], in: buttons), press)
  }

  private func button(_ key: Strings.Key, _ icon: Drawing, _ press: Press) {
    let node = dom.button(press == .end ? "ma-round ma-call-end" : "ma-round", icon: icon, label: Strings[key], in: buttons)
    dom.setAttribute(node, "title", Strings[key])
    listen(node, press)
  }

  private func listen(_ node: Node, _ press: Press) {
    dom.on(node, .click) { [self] _ in desk.perform(command(press)) }
  }

  private func command(_ press: Press) -> MatrixCallCommand {
    switch press {
    case .microphone: .mute(call, audio: !shownButtons.isMuted, video: nil)
    case .camera: .mute(call, audio: nil, video: !shownButtons.isCameraOff)
    case .screen: .shareScreen(call, !shownButtons.isSharing)
    case .end: .hangUp(call)
    case .answer: .answer(call, audio: true, video: false)
    case .answerWithCamera: .answer(call, audio: true, video: true)
    case .decline: .reject(call)
    }
  }

  private enum Press { case microphone, camera, screen, end, answer, answerWithCamera, decline }
}

extension MatrixCall {
  /// Whether the camera is open, shown to the other side or not.
  var hasOwnPicture: Bool { local.contains { $0.purpose == .userMedia && $0.hasPicture } }
}
