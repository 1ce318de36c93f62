import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets

/// Which devices get the keys of messages.
package final class ReadersChoice<D: DOM> {
  private let dom: D
  private let encryption: PageEncryption
  private let node: Node
  private var shown: EncryptionReport.Readers?

  package init(_ dom: D, _ encryption: PageEncryption, in parent: Node) {
    self.dom = dom
    self.encryption = encryption
    node = dom.element("div", "ma-form", in: parent)
  }

  package func show(_ now: EncryptionReport.Readers) {
    guard now != shown else { return }
    shown = now
    dom.releaseChildren(of: node)
    let choices: [(EncryptionReport.Readers, Strings.Key)] = [
      (.signedIfAny, .readersUsual), (.signed, .readersSigned), (.verified, .readersVerified), (.all, .readersAll)
    ]
    Choice(
      dom, Strings[.whoReads], choices.map { ("\($0.0.rawValue)", Strings[$0.1]) }, selected: "\(now.rawValue)", in: node
    ) { [encryption] chosen in
      guard let chosen = UInt8(chosen).flatMap({ EncryptionReport.Readers(rawValue: $0) }) else { return }
      encryption.perform(.setReaders(chosen)) { _ in }
    }
    dom.element("p", "ma-note", text: .readersNote, in: node)
  }
}
