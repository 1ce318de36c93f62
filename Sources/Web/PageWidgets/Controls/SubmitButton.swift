import Messenger

/// The main button of a form; while work is under way it says so, and what it starts asks `isBusy` first. It stays enabled then:
/// the browser would take the focus from it, and Escape would no longer reach the dialog around it.
package final class SubmitButton<D: DOM> {
  package let node: Node
  private let dom: D
  private let label: Node
  private var text: Strings.Key
  private var busyText: Strings.Key
  package private(set) var isBusy = false
  private var isEnabled = true

  package init(_ dom: D, _ text: Strings.Key, busy: Strings.Key, kind: String = "ma-primary", in parent: Node) {
    self.dom = dom
    self.text = text
    busyText = busy
    node = dom.element("button", "ma-button " + kind, in: parent)
    dom.setAttribute(node, "type", "submit")
    dom.setAttribute(dom.element("span", "mg-spinner", in: node), "aria-hidden", "true")
    label = dom.element("span", "ma-button-text", text: text, in: node)
    show()
  }

  package func set(_ text: Strings.Key, busy: Strings.Key) {
    self.text = text
    busyText = busy
    show()
  }

  package func setBusy(_ isBusy: Bool) {
    self.isBusy = isBusy
    show()
  }

  package func setEnabled(_ isEnabled: Bool) {
    self.isEnabled = isEnabled
    show()
  }

  private func show() {
    dom.setText(label, isBusy ? busyText : text)
    dom.setFlag(node, "disabled", !isEnabled)
    dom.setAttribute(node, "aria-disabled", isBusy ? "true" : "false")
    dom.setAttribute(node, "aria-busy", isBusy ? "true" : "false")
  }
}
