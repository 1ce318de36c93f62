import Messenger
import PageWidgets
import WebHost

/// A text that one gives to others, with a button that copies it.
struct CopyLine<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ label: Strings.Key, _ text: String, in parent: Node) {
    let dom = app.dom
    let line = dom.element("div", "ma-copy-line", in: parent)
    let texts = dom.element("div", "ma-copy-texts", in: line)
    dom.element("span", "ma-field-label", text: label, in: texts)
    dom.element("bdi", "ma-copy-text", text: text, in: texts)
    let copy = dom.button("ma-button ma-small", .copy, in: line)
    dom.on(copy, .click) { _ in
      Host.copyToClipboard(text) { isDone in if isDone { app.notices.show(.copied) } }
    }
  }
}
