import Messenger
import PageWidgets

/// The dialogs, menus and cards over the page. While one is open, the rest of the page takes no input. Escape or a click beside it
/// closes it, and the focus returns to where it was.
final class Dialogs<D: DOM> {
  private let app: App<D>
  private let dom: D
  private var frames: [DialogFrame<D>] = []
  /// What had the focus last outside of dialogs; the host ignores it where it is gone by then.
  var opener = Node.none
  /// Counts what was asked for: a dialog whose part comes late does not open over another.
  private var asked = 0

  init(_ app: App<D>) {
    self.app = app
    dom = app.dom
  }

  var isOpen: Bool { !frames.isEmpty }

  /// Opens a dialog whose part of the program may have to be loaded first.
  func open<Content>(
    _ part: Part, as style: DialogFrame<D>.Style = .dialog, _ make: @escaping (DialogFrame<D>) -> Content
  ) {
    asked += 1
    app.need(part) { [self, asked] in if asked == self.asked { open(as: style, make) } }
  }

  /// Opens a dialog that `make` fills.
  func open<Content>(as style: DialogFrame<D>.Style = .dialog, _ make: (DialogFrame<D>) -> Content) {
    asked += 1
    let frame = DialogFrame(dom, style)
    frame.onClose = { [self] in closed(frame) }
    frames.append(frame)
    _ = make(frame)
    shut()
    dom.append(frame.overlay, to: .root)
    frame.focusFirst()
    dom.flush()
  }

  /// - Parameter isEnd: also those that only what is in them closes.
  func closeAll(isEnd: Bool = false) {
    asked += 1
    for frame in frames.reversed() where isEnd || !frame.isFirm { frame.close() }
  }

  private func closed(_ frame: DialogFrame<D>) {
    frames.removeAll { $0 === frame }
    shut()
    frames.last?.focusAgain()
    if frames.isEmpty, let main = app.main {
      // What had it may be gone by now, a message that was deleted for one: then the host finds a place (`Web/spoken.js`).
      if opener == .none { main.takeFocus() } else { dom.focus(opener) }
    }
    dom.flush()
  }

  /// Only the topmost takes input.
  private func shut() {
    if let main = app.main { dom.setFlag(main.root, "inert", isOpen) }
    if let signIn = app.signIn { dom.setFlag(signIn.root, "inert", isOpen) }
    for frame in frames { dom.setFlag(frame.overlay, "inert", frame !== frames.last) }
  }
}
