import CallCore
import JSON
import Messenger
import WebHost

/// A participant of the call, or a screen: picture or avatar, name, microphone, and a menu of actions.
final class TileView<D: DOM> {
  let key: ByteString
  private let dom: D
  private let call: OngoingCall<D>
  private let root: Node
  private let video: Node
  private let avatar: AvatarView<D>
  private let name: Node
  private let silent: Node
  private var hear: Node?
  private var mute: Node?
  private var removal: Node?
  private var shown: TileModel?
  private var classes = ""

  init(_ dom: D, _ call: OngoingCall<D>, _ key: ByteString, isModerator: Bool, isOwn: Bool, in stage: Node) {
    self.dom = dom
    self.call = call
    self.key = key
    root = dom.element("div", "gc-tile", in: stage)
    dom.setAttribute(root, "role", "group")
    avatar = AvatarView(dom, "gc-avatar", in: root)
    video = dom.element("video", "gc-video", in: root)
    for flag in ["autoplay", "playsinline"] { dom.setFlag(video, flag, true) }
    if isOwn { dom.setFlag(video, "muted", true) }
    let label = dom.element("p", "gc-name", in: root)
    name = dom.element("span", "gc-name-text", in: label)
    silent = dom.element("span", "gc-silent", in: label)
    dom.setAttribute(silent, "role", "img")
    dom.setAttribute(silent, "aria-label", Word.groupCallMicrophoneIsOff.text)
    CallIcon.microphoneOff.draw(dom, in: silent)
    if !isOwn { makeButtons(isModerator) }
  }

  func close() { dom.release(root) }

  private func makeButtons(_ isModerator: Bool) {
    let buttons = dom.element("div", "gc-tile-buttons", in: root)
    hear = button(in: buttons) { [self] in hearOrNot() }
    guard isModerator else { return }
    mute = button(.microphoneOff, in: buttons) { [self] in if shown?.isStream == true { call.perform(.mute(stream: key)) } }
    removal = button(.remove, in: buttons) { [self] in
      if let shown { call.perform(.disconnect(connection: shown.connection)) }
    }
  }

  private func button(_ icon: CallIcon? = nil, in parent: Node, _ run: @escaping () -> Void) -> Node {
    let node = dom.element("button", "ma-round", in: parent)
    dom.setAttribute(node, "type", "button")
    icon?.draw(dom, in: node)
    dom.on(node, .click) { _ in run() }
    return node
  }

  private func hearOrNot() {
    guard let stream = call.session?.stream(key) else { return }
    var wanted = stream.preference
    wanted.audio.toggle()
    call.perform(.prefer(key, wanted))
    call.show()
  }

  func show(_ model: TileModel, isLarge: Bool) {
    let old = shown
    shown = model
    if !(old?.name.hasSameBytes(as: model.name) ?? false) || old?.isMutedHere != model.isMutedHere
      || old?.isLocked != model.isLocked
    {
      showName(model)
    }
    avatar.show(id: model.user.string, name: model.name, source: model.avatar)
    dom.setFlag(silent, "hidden", !model.isSilent || model.isScreen)
    if let hear { dom.setFlag(hear, "hidden", !model.isStream) }
    if let mute { dom.setFlag(mute, "hidden", !model.isStream || model.isSilent) }
    var list = "gc-tile"
    if model.speaks { list += " gc-speaks" }
    if !model.hasPicture { list += " gc-plain" }
    if model.kind == .own { list += " gc-own" }
    if model.isScreen { list += " gc-screen" }
    if isLarge { list += " gc-large" }
    if !list.hasSameBytes(as: classes) {
      classes = list
      dom.setClass(root, list)
    }
    guard !model.track.hasSameBytes(as: old?.track ?? "") else { return }
    dom.flush()
    call.host?.media?.show(model.track, in: video)
  }

  private func showName(_ model: TileModel) {
    let label = model.isScreen ? Word.groupCallScreenOf.text(model.name) : model.name
    dom.setText(name, model.isLocked ? Word.groupCallLocked.text(label) : label)
    dom.setAttribute(root, "aria-label", label)
    dom.setAttribute(video, "aria-label", model.isOwn ? Word.ownPicture.text : Word.pictureOf.text(model.name))
    if let hear {
      dom.releaseChildren(of: hear)
      (model.isMutedHere ? CallIcon.earOff : .ear).draw(dom, in: hear)
      setLabel(hear, (model.isMutedHere ? Word.groupCallHear : .groupCallNotHere).text(model.name))
    }
    if let mute { setLabel(mute, Word.groupCallMute.text(model.name)) }
    if let removal { setLabel(removal, Word.groupCallRemove.text(model.name)) }
  }

  private func setLabel(_ node: Node, _ text: String) {
    dom.setAttribute(node, "aria-label", text)
    dom.setAttribute(node, "title", text)
  }
}
