import ClientHost
import Messenger
import PageWidgets
import WebHost

/// For people who change clients, or keep their keys themselves: the ways to write a key file, and to read one.
package struct KeyFiles<D: DOM> {
  /// - Parameter open: opens the dialog for it.
  @discardableResult
  package init(_ dom: D, in parent: Node, open: @escaping (KeyFileDialog<D>.Kind) -> Void) {
    let part = dom.element("div", "ma-form", in: parent)
    dom.element("h3", "ma-field-label", text: .keyFiles, in: part)
    dom.element("p", "ma-note", text: .keyFilesNote, in: part)
    let buttons = dom.element("div", "ma-buttons", in: part)
    let export = dom.button("ma-button", .exportKeys, in: buttons)
    let take = dom.button("ma-button", .importKeys, in: buttons)
    dom.on(export, .click) { _ in open(.export) }
    dom.on(take, .click) { _ in
      Host.pickFiles(isMultiple: false) { files in
        if let file = files.first { open(.take(file)) }
        dom.flush()
      }
    }
  }
}
