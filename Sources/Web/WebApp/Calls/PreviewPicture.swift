import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The own picture before a call, the own avatar while the camera is off, with a switch for each device and how loud the microphone is.
final class PreviewPicture<D: DOM> {
  let video: Node
  var onToggle: (CaptureKinds) -> Void = { _ in }
  private let dom: D
  private let avatar: AvatarView<D>
  private let meter: Node
  private let switches: [(kind: CaptureKinds, node: Node, icon: Node)]
  private var shown: [Bool?] = [nil, nil]
  private var percent = -1
  /// The browser has told how loud the microphone is.
  private var isHeard = false

  init(_ app: App<D>, in parent: Node) {
    let dom = app.dom
    self.dom = dom
    let stage = dom.element("div", "ma-preview-stage", in: parent)
    video = dom.element("video", "ma-preview-video", in: stage)
    for flag in ["muted", "playsinline"] { dom.setFlag(video, flag, true) }
    dom.setLabel(video, .ownPicture)
    avatar = dom.avatar("ma-avatar-large", in: stage)
    if let user = app.userID {
      avatar.show(
        id: user.string, name: app.client.ownDisplayName?.string ?? user.string, source: app.avatarSource(app.client.ownAvatar))
    }
    let line = dom.element("div", "ma-preview-switches", in: stage)
    switches = [(CaptureKinds.microphone, Strings.Key.groupCallMicrophone), (.camera, .groupCallCamera)].map { kind, words in
      let node = dom.button("ma-preview-switch", in: line)
      dom.setAttribute(node, "role", "switch")
      let icon = dom.element("span", "ma-preview-icon", in: node)
      dom.element("span", text: words, in: node)
      return (kind: kind, node: node, icon: icon)
    }
    meter = dom.element("div", "ma-meter", in: parent)
    for (name, value) in [("role", "meter"), ("aria-valuemin", "0"), ("aria-valuemax", "100")] {
      dom.setAttribute(meter, name, value)
    }
    dom.setLabel(meter, .microphoneLevel)
    for (kind, node, _) in switches { dom.on(node, .click) { [self] _ in onToggle(kind) } }
  }

  func show(_ wanted: CaptureKinds, _ microphone: MediaPreview.Outcome, _ camera: MediaPreview.Outcome) {
    dom.setFlag(video, "hidden", camera != .on)
    dom.setFlag(avatar.node, "hidden", camera == .on)
    if microphone != .on {
      isHeard = false
      show(level: 0)
    }
    dom.setFlag(meter, "hidden", !isHeard)
    for (i, part) in switches.enumerated() {
      let isOn = wanted.contains(part.kind)
      guard isOn != shown[i] else { continue }
      shown[i] = isOn
      dom.setAttribute(part.node, "aria-checked", isOn ? "true" : "false")
      dom.releaseChildren(of: part.icon)
      let icons: (on: Drawing, off: Drawing) = part.kind == .camera ? (.camera, .cameraOff) : (.microphone, .microphoneOff)
      (isOn ? icons.on : icons.off).draw(dom, in: part.icon)
    }
  }

  /// Shows the meter, which is hidden while the browser cannot tell a level.
  /// - Parameter level: 0...1.
  func hear(level: Double) {
    if !isHeard {
      isHeard = true
      dom.setFlag(meter, "hidden", false)
    }
    show(level: level)
  }

  private func show(level: Double) {
    // Speech stays well below the highest value: the root spreads it over the meter.
    let now = Int(max(0, min(1, level)).squareRoot() * 100)
    guard now != percent else { return }
    percent = now
    dom.setAttribute(meter, "aria-valuenow", "\(now)")
    dom.setVariable(meter, "--level", Double(now) / 100)
    dom.flush()
  }
}
