import MatrixModel
import Messenger
import WebHost

/// Above an open room: a call goes on there, with so many people, and one may join.
final class CallBar<D: DOM> {
  private let dom: D
  private let root: Node
  private let text: Node
  private var room: RoomID?

  init(_ dom: D, onJoin: @escaping (RoomID) -> Void) {
    self.dom = dom
    root = dom.element("section", "gc-bar", in: .root)
    CallIcon.camera.draw(dom, in: root)
    text = dom.element("p", "gc-bar-text", in: root)
    dom.setAttribute(text, "role", "status")
    let join = dom.element("button", "ma-button ma-primary", in: root)
    dom.setAttribute(join, "type", "button")
    dom.setText(join, Word.join.text)
    hide()
    dom.on(join, .click) { [self] _ in if let room { onJoin(room) } }
  }

  func hide() {
    room = nil
    dom.setFlag(root, "hidden", true)
  }

  func show(_ known: KnownRoom, now: Int64) {
    room = known.id
    dom.setFlag(root, "hidden", false)
    dom.setText(text, Word.groupCallHere.text(count: known.peopleCount(at: now)))
  }
}
