import Messenger
import PageWidgets
import WebHost

/// Short sentences that go away by themselves. They stand below the header of the conversation, or beside the dialog that is open: nothing is pressed there.
/// A press on the words reaches what lies below them.
final class Notices<D: DOM> {
  private static var shownMilliseconds: Double { 6_000 }

  private let app: App<D>
  private let dom: D
  private let node: Node
  private var last = Node.none
  private var number = 0

  init(_ app: App<D>) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-notices", in: .root)
    dom.setAttribute(node, "role", "status")
    dom.setAttribute(node, "aria-live", "polite")
  }

  /// One at a time: the newest takes the place of the one before.
  func show(_ text: String, isTrouble: Bool = false) {
    hide()
    number += 1
    let mine = number
    let place = app.dialogs.isOpen ? " ma-beside" : app.place.room == nil ? " ma-over-list" : ""
    dom.setClass(node, "ma-notices" + place)
    last = dom.element("div", isTrouble ? "ma-notice-box ma-notice-trouble" : "ma-notice-box", in: node)
    dom.element("span", text: text, in: last)
    let close = dom.button("ma-round ma-round-small", icon: .close, label: .close, in: last)
    dom.on(close, .click) { [self] _ in
      hide()
      dom.flush()
    }
    dom.flush()
    Host.after(milliseconds: Notices.shownMilliseconds) { [self] in
      if number == mine { hide() }
      dom.flush()
    }
  }

  func show(_ text: Strings.Key, isTrouble: Bool = false) { show(Strings[text], isTrouble: isTrouble) }

  /// Shows words until the function that it returns is called; nothing where that is soon.
  func showWhile(_ text: Strings.Key) -> () -> Void {
    var mine = 0
    let patience = Host.after(milliseconds: 400) { [self] in
      show(text)
      mine = number
    }
    return { [self] in
      patience.cancel()
      if number == mine { hide() }
    }
  }

  private func hide() {
    if last != .none { dom.release(last) }
    last = .none
  }
}
