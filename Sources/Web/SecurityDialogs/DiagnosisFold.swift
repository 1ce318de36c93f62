import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets
import WebHost

/// For reports about what cannot be read: what is known of the encryption when it is unfolded, in English.
package final class DiagnosisFold<D: DOM> {
  private let dom: D
  private let encryption: PageEncryption
  private let source: Node
  private var report = ""
  /// The report is in the clipboard.
  package var onCopied: () -> Void = {}

  package init(_ dom: D, _ encryption: PageEncryption, in parent: Node) {
    self.dom = dom
    self.encryption = encryption
    let fold = dom.element("details", "ma-fold", in: parent)
    let summary = dom.element("summary", text: .technicalDetails, in: fold)
    let content = dom.element("div", "ma-form", in: fold)
    dom.element("p", "ma-note", text: .technicalNote, in: content)
    source = dom.element("pre", "ma-source", in: content)
    dom.setAttribute(source, "dir", "ltr")
    dom.setAttribute(source, "lang", "en")
    let copy = dom.button("ma-button", .copy, icon: .copy, in: dom.element("div", "ma-buttons", in: content))
    dom.on(copy, .click) { [self] _ in Host.copyToClipboard(report) { [self] in if $0 { onCopied() } } }
    dom.on(summary, .click) { [self] _ in diagnose() }
  }

  private func diagnose() {
    encryption.perform(.diagnose) { [self] outcome in
      guard case .done(let text)? = outcome else {
        dom.setText(source, .encryptionUnavailable)
        return dom.flush()
      }
      Host.learnStorageKeeping(asks: false) { [self] keeping in
        report = text.string + "\nstorage: " + keeping.english
        dom.setText(source, report)
        dom.flush()
      }
    }
  }
}
