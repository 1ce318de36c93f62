import JSON
import MatrixModel
import Messenger
import WebHost

/// Above an open room: a call goes on there, with so many people, and one may join. In small rooms it rings first, whichever room is open.
final class CallBar<D: DOM> {
  private let dom: D
  private let root: Node
  private let icon: Node
  private let avatar: AvatarView<D>
  private let text: Node
  private let decline: Node
  private var room: RoomID?

  init(_ dom: D, onJoin: @escaping (RoomID) -> Void, onDecline: @escaping (RoomID) -> Void) {
    self.dom = dom
    root = dom.element("section", "gc-bar", in: .root)
    icon = dom.element("span", "gc-bar-icon", in: root)
    CallIcon.camera.draw(dom, in: icon)
    avatar = AvatarView(dom, "ma-avatar-small", in: root)
    text = dom.element("p", "gc-bar-text", in: root)
    dom.setAttribute(text, "role", "status")
    decline = dom.element("button", "ma-button", in: root)
    dom.setAttribute(decline, "type", "button")
    dom.setText(decline, Word.notNow.text)
    let join = dom.element("button", "ma-button ma-primary", in: root)
    dom.setAttribute(join, "type", "button")
    dom.setText(join, Word.join.text)
    hide()
    dom.on(decline, .click) { [self] _ in if let room { onDecline(room) } }
    dom.on(join, .click) { [self] _ in if let room { onJoin(room) } }
  }

  func hide() {
    room = nil
    dom.setFlag(root, "hidden", true)
  }

  /// - Parameter caller: of a call that rings.
  func show(_ known: KnownRoom, now: Int64, caller: KnownRoom.Person?) {
    room = known.id
    dom.setFlag(root, "hidden", false)
    dom.setFlag(decline, "hidden", caller == nil)
    dom.setFlag(icon, "hidden", caller != nil)
    dom.setFlag(avatar.node, "hidden", caller == nil)
    if let caller { avatar.show(id: caller.user.string, name: caller.name, source: caller.avatar) }
    dom.setClass(root, caller == nil ? "gc-bar" : "gc-bar rc-rings")
    let here = Word.groupCallHere.text(count: known.peopleCount(at: now))
    dom.setText(text, caller.map { Word.groupCallRings.text($0.name, known.name) } ?? here)
  }
}
