import ClientHost
import Messenger
import PageWidgets
import WebHost

/// Before something is begun that is to be encrypted, while the server still builds what that needs (`PageEncryption.isBuilding`).
package struct AwaitEncryptionDialog<D: DOM> {
  /// Other browsers ask for the program every five seconds, and then need a moment: before that nobody can write to their users.
  private static var graceMilliseconds: Double { 7_000 }

  /// - Parameter then: hears whether it begins encrypted; nil if the user has closed the dialog.
  @discardableResult
  package init(_ encryption: PageEncryption, in frame: DialogFrame<D>, _ then: @escaping (_ isEncrypted: Bool?) -> Void) {
    let dom = frame.dom
    var answer: Bool?
    frame.setTitle(.awaitEncryption)
    dom.element("p", "ma-note", text: .awaitEncryptionNote, in: frame.body)
    dom.setAttribute(dom.element("p", "ma-note", text: .awaitingEncryption, in: frame.body), "role", "status")
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let begin = dom.button("ma-button", .beginUnencrypted, in: buttons)
    frame.setFirst(cancel)
    frame.onEnd = { then(answer) }
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(begin, .click) { _ in
      answer = false
      frame.close()
    }
    encryption.whenBuilt {
      Host.after(milliseconds: Self.graceMilliseconds) {
        guard frame.isOpen else { return }
        // Where it has failed nothing begins by itself.
        if encryption.state != nil { answer = true }
        frame.close()
      }
    }
  }
}
