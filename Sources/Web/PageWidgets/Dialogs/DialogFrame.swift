import Messenger

/// What stands over the page: a heading, a way to close it, a body.
package final class DialogFrame<D: DOM> {
  package enum Style {
    /// In the middle, the page behind it dimmed: for what must be decided now.
    case dialog
    /// Over the whole window: settings, with their chapters.
    case page
    /// At what was pressed, the page behind it lit; a sheet from the bottom on a phone. `Web/popover.js` finds the place.
    case popover
    /// A popover whose body is a list of commands. Source: ARIA Authoring Practices, "Menu".
    case menu
  }

  package let dom: D
  package let style: Style
  package let overlay: Node
  package let box: Node
  package let body: Node
  /// False once closed: its elements are gone.
  package private(set) var isOpen = true
  /// Nothing closes it but what is in it: neither Escape nor a press beside it, nor going elsewhere.
  package private(set) var isFirm = false
  package var onClose: (() -> Void)?
  /// For what is in it.
  package var onEnd: () -> Void = {}
  /// What has the role, and the title as its name.
  private let spoken: Node
  private let title: Node
  private let closeButton: Node
  private var first = Node.none
  /// What had the focus last.
  private var focused = Node.none

  package init(_ dom: D, _ style: Style = .dialog) {
    self.dom = dom
    self.style = style
    overlay = dom.element("div", "ma-overlay")
    if style == .popover || style == .menu { dom.setFlag(overlay, "data-popover", true) }
    box = dom.element("div", in: overlay)
    dom.setAttribute(box, "tabindex", "-1")
    let header = dom.element("header", "ma-dialog-header", in: box)
    title = dom.element("h2", "ma-dialog-title", in: header)
    dom.setAttribute(title, "tabindex", "-1")
    closeButton = dom.button("ma-round", icon: .close, label: .close, in: header)
    body = dom.element("div", "ma-dialog-body", in: box)
    // Of a menu the body alone is one: its heading and its button, which a sheet has, may not stand within.
    spoken = style == .menu ? body : box
    dom.setAttribute(spoken, "role", style == .menu ? "menu" : "dialog")
    if style != .menu { dom.setAttribute(box, "aria-modal", "true") }
    dom.on(closeButton, .click) { [self] _ in close() }
    dom.on(overlay, .click) { [self] event in if event.node == overlay, !isFirm { close() } }
    dom.on(overlay, .focus) { [self] in focused = $0.node }
    dom.listen(overlay, .keyDown) { [self] event in
      guard case .escape = event.key, !event.modifiers.contains(.composing) else { return .pass }
      if !isFirm { close() }
      return .preventDefault
    }
  }

  /// - Parameter look: a class of its own.
  package func setTitle(_ text: String, look: String = "") {
    dom.setText(title, text)
    dom.setAttribute(spoken, "aria-label", text)
    let classes =
      switch style {
      case .dialog: "ma-dialog"
      case .page: "ma-dialog ma-whole"
      case .popover: "ma-dialog ma-popover"
      case .menu: "ma-dialog ma-popover ma-menu"
      }
    dom.setClass(box, look.utf8.isEmpty ? classes : classes + " " + look)
  }

  package func setTitle(_ text: Strings.Key, look: String = "") { setTitle(Strings[text], look: look) }

  package func makeFirm() {
    isFirm = true
    dom.setFlag(closeButton, "hidden", true)
  }

  /// What gets the focus when the dialog opens; without it the heading, for of a dialog itself all its words would be said.
  package func setFirst(_ node: Node) { first = node }

  package func focusFirst() { dom.focus(first == .none ? title : first) }

  /// To where it was before another dialog stood above; where that is gone, the host finds a place.
  package func focusAgain() { if focused == .none { focusFirst() } else { dom.focus(focused) } }

  package func close() {
    guard isOpen else { return }
    isOpen = false
    dom.release(overlay)
    onClose?()
    onEnd()
    dom.flush()
  }

  /// A line that says what went wrong.
  package func trouble(in parent: Node) -> Node {
    let node = dom.element("p", "ma-trouble", in: parent)
    dom.setAttribute(node, "role", "alert")
    return node
  }
}
