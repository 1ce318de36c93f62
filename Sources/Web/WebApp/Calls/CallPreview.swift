import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What users see before a call: their own picture, how loud they are, and the devices in use. The devices are kept for the next call, and in
/// calls of rooms whether camera and microphone are on.
final class CallPreview<D: DOM> {
  private let dom: D
  private let frame: DialogFrame<D>
  private let plan: CallPlan
  private let then: (CallSetup) -> Void
  private let picture: PreviewPicture<D>
  /// Why the browser will ask.
  private var reason: TextView<D>
  private let allow: Node
  private let trouble: Node
  private let again: Node
  private let start: Node
  private var choices: [(kind: CallDevice.Kind, list: Choice<D>)] = []
  private var media: MediaPreview?
  private var choice = CallChoice.kept
  private var wanted: CaptureKinds
  private var permissions = (microphone: CapturePermission.undecided, camera: CapturePermission.undecided)
  private var outcomes = (microphone: MediaPreview.Outcome.off, camera: MediaPreview.Outcome.off)
  /// The person has pressed something that lets the browser ask.
  private var mayAsk = false
  /// The browser has told what it lets the page use.
  private var isKnown = false
  private var shownRefusal: Strings.Key?
  private var mayStart = true
  /// Allow or Try again has the focus, and goes once that is done.
  private var isPressed = false

  init(_ app: App<D>, _ plan: CallPlan, in frame: DialogFrame<D>, _ then: @escaping (CallSetup) -> Void) {
    self.frame = frame
    self.plan = plan
    self.then = then
    dom = app.dom
    wanted = plan.withCamera ?? choice.isCameraOn ? [.microphone, .camera] : .microphone
    if plan.withCamera == nil, !choice.isMicrophoneOn { wanted.remove(.microphone) }
    frame.setTitle(plan.title, look: "ma-preview")
    picture = PreviewPicture(app, in: frame.body)
    reason = TextView(dom, "p", "ma-note", in: frame.body)
    dom.setAttribute(reason.node, "role", "status")
    trouble = frame.trouble(in: frame.body)
    let lists = dom.element("div", "ma-preview-devices", in: frame.body)
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    allow = dom.button("ma-button", .allowDevices, in: buttons)
    again = dom.button("ma-button", .retry, in: buttons)
    start = dom.button("ma-button ma-primary", plan.action, in: buttons)
    frame.setFirst(start)
    for kind in [CallDevice.Kind.camera, .microphone, .loudspeaker] { addChoice(kind, in: lists) }
    picture.onToggle = { [self] in toggle($0) }
    dom.on(cancel, .click) { _ in frame.close() }
    for button in [allow, again] {
      dom.on(button, .click) { [self] _ in
        isPressed = true
        if mayStart { dom.focus(start) }
        ask()
      }
    }
    dom.on(start, .click) { [self] _ in begin() }
    show()
    media = MediaPreview(in: picture.video) { [self] in heard($0) }
  }

  /// Camera and microphone are free for the call.
  @inline(never)
  func close() { media = nil }

  private func addChoice(_ kind: CallDevice.Kind, in parent: Node) {
    let list = Choice(dom, Strings[kind.name], [], selected: "", in: parent) { [self] in
      choice.use($0, kind)
      if kind != .loudspeaker { media?.open(wanted, choice) }
    }
    dom.setFlag(list.node, "hidden", true)
    choices.append((kind, list))
  }

  // MARK: What the browser tells

  func heard(_ event: MediaPreview.Event) {
    guard frame.isOpen else { return }
    switch event {
    case .permission(let microphone, let camera):
      permissions = (microphone, camera)
      isKnown = true
      // What was allowed or refused before, the browser does not ask again.
      if !isUndecided { media?.open(wanted, choice) }
    case .opened(let microphone, let camera):
      outcomes = (microphone, camera)
      mayAsk = false
      show()
      if isPressed { dom.focus(mayStart ? start : again) }
      isPressed = false
    case .level(let level): return picture.hear(level: level)
    case .devices(let devices): show(devices)
    }
    show()
    dom.flush()
  }

  /// Whether the browser would ask for something that is wanted.
  private var isUndecided: Bool {
    wanted.contains(.microphone) && permissions.microphone == .undecided && outcomes.microphone == .off
      || wanted.contains(.camera) && permissions.camera == .undecided && outcomes.camera == .off
  }

  private func show(_ devices: [CallDevice]) {
    for (kind, list) in choices {
      let named = devices.filter { $0.kind == kind && !$0.label.utf8.isEmpty }
      dom.setFlag(list.node, "hidden", named.isEmpty)
      guard !named.isEmpty else { continue }
      let used = named.first { $0.id.string.hasSameBytes(as: choice[kind]) } ?? named.first { $0.isUsed } ?? named[0]
      list.setOptions(named.map { (value: $0.id.string, words: $0.label) }, selected: used.id.string)
    }
  }

  // MARK: What is shown

  private func show() {
    picture.show(wanted, outcomes.microphone, outcomes.camera)
    let asks = isKnown && isUndecided
    reason.set(asks ? Strings[wanted.contains(.camera) ? .askToCallWithCamera : .askToCall] : "")
    dom.setFlag(allow, "hidden", !asks || mayAsk)
    if refusal != shownRefusal {
      shownRefusal = refusal
      dom.setText(trouble, refusal.map { Strings[$0] } ?? "")
    }
    dom.setFlag(again, "hidden", refusal == nil)
    // Between two, one who cannot be heard has no call.
    let isUnheard = outcomes.microphone == .refused || outcomes.microphone == .missing
    let mayStart = plan.withCamera == nil || !isUnheard
    guard mayStart != self.mayStart else { return }
    self.mayStart = mayStart
    dom.setFlag(start, "disabled", !mayStart)
    if !mayStart { dom.focus(again) }
  }

  private var refusal: Strings.Key? {
    switch (outcomes.microphone, outcomes.camera) {
    case (.refused, .refused): .devicesRefused
    case (.refused, _): .microphoneRefused
    case (_, .refused): .cameraRefused
    case (.missing, _): .microphoneMissing
    case (_, .missing): .cameraMissing
    default: nil
    }
  }

  // MARK: What the person does

  private func toggle(_ kind: CaptureKinds) {
    if wanted.contains(kind) { wanted.remove(kind) } else { wanted.insert(kind) }
    ask()
  }

  private func ask() {
    mayAsk = true
    media?.open(wanted, choice)
    show()
    dom.flush()
  }

  private func begin() {
    let isSeen = wanted.contains(.camera) && outcomes.camera != .refused && outcomes.camera != .missing
    if plan.withCamera == nil {
      choice.isCameraOn = wanted.contains(.camera)
      choice.isMicrophoneOn = wanted.contains(.microphone)
    }
    choice.keep()
    frame.close()
    then(CallSetup(hasCamera: isSeen, isMuted: !wanted.contains(.microphone)))
    dom.flush()
  }
}

extension CallDevice.Kind {
  fileprivate var name: Strings.Key {
    switch self {
    case .camera: .groupCallCamera
    case .microphone: .groupCallMicrophone
    case .loudspeaker: .groupCallLoudspeaker
    }
  }
}
