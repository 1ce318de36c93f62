import JSON
import Messenger
import WebHost

/// The button on a stage that shows who speaks in a window of the browser's own, above all other windows. Only where the browser has that.
final class FloatingPicture<D: DOM> {
  private let dom: D
  private let button: Node
  /// Shows the stream of that name there; the empty name closes the window.
  private let float: (String) -> Void
  private var stream = ""
  private var isOpen = false

  init(_ dom: D, in stage: Node, _ float: @escaping (String) -> Void) {
    self.dom = dom
    self.float = float
    button = dom.element("button", "rc-float", in: stage)
    dom.setAttribute(button, "type", "button")
    dom.setAttribute(button, "aria-pressed", "false")
    CallIcon.float.draw(dom, in: button)
    dom.element("span", text: Word.pictureInPicture.text, in: button)
    dom.setFlag(button, "hidden", true)
    dom.on(button, .click) { [self] _ in float(isOpen ? "" : stream) }
  }

  /// The call is over.
  func close() { if isOpen { float("") } }

  /// - Parameter stream: the stream it shows; nil while nobody sends a picture.
  func show(_ stream: String?) {
    let wanted = stream ?? ""
    guard !wanted.hasSameBytes(as: self.stream) else { return }
    self.stream = wanted
    dom.setFlag(button, "hidden", wanted.utf8.isEmpty || !Host.pageState.contains(.canFloat))
    if isOpen { float(wanted) }
  }

  /// The window opened, or somebody closed it.
  func heard(_ json: JSON) {
    guard let isOpen = json.bool("on") else { return }
    self.isOpen = isOpen
    dom.setAttribute(button, "aria-pressed", isOpen ? "true" : "false")
    dom.flush()
  }
}
