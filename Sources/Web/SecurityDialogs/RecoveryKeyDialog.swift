import Messenger
import PageWidgets
import WebHost

/// A new recovery key, which is shown once: only the button that says so closes it.
package struct RecoveryKeyDialog<D: DOM> {
  /// - Parameter copied: called when the key is in the clipboard.
  @discardableResult
  package init(_ key: String, in frame: DialogFrame<D>, copied: @escaping () -> Void) {
    let dom = frame.dom
    frame.makeFirm()
    frame.setTitle(.yourRecoveryKey)
    dom.element("p", "ma-note", text: .recoveryKeyNote, in: frame.body)
    let text = dom.element("p", "ma-recovery-key", text: key, in: frame.body)
    dom.setAttribute(text, "dir", "ltr")
    dom.setAttribute(text, "translate", "no")
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let copy = dom.button("ma-button", .copy, icon: .copy, in: buttons)
    let saved = dom.button("ma-button ma-primary", .savedRecoveryKey, in: buttons)
    frame.setFirst(copy)
    dom.on(copy, .click) { _ in Host.copyToClipboard(key) { if $0 { copied() } } }
    dom.on(saved, .click) { _ in frame.close() }
  }
}
