import Messenger
import PageWidgets

/// Above the rooms of somebody who has written encrypted messages and has no recovery key: asks them, calmly, to make one.
package final class RecoveryCard<D: DOM> {
  private let dom: D
  private let node: Node
  private let words: Node
  private let make: SubmitButton<D>
  private var isShown = false
  /// Makes the key, and calls what it is given when that is over.
  package var onMake: (@escaping () -> Void) -> Void = { _ in }
  package var onPutOff: () -> Void = {}

  package init(_ dom: D, in parent: Node) {
    self.dom = dom
    node = dom.element("div", "ma-recovery-card", in: parent)
    Drawing.key.draw(dom, in: node)
    words = dom.element("p", in: node)
    dom.setAttribute(words, "role", "status")
    let buttons = dom.element("span", "ma-security-buttons", in: node)
    make = SubmitButton(dom, .makeRecoveryKey, busy: .creating, in: buttons)
    dom.setAttribute(make.node, "type", "button")
    let later = dom.button("ma-button ma-small", .notNow, in: buttons)
    dom.setFlag(node, "hidden", true)
    dom.on(make.node, .click) { [self] _ in
      guard !make.isBusy else { return }
      make.setBusy(true)
      onMake { [self] in make.setBusy(false) }
      dom.flush()
    }
    dom.on(later, .click) { [self] _ in
      onPutOff()
      dom.flush()
    }
  }

  package func setShown(_ isShown: Bool) {
    guard isShown != self.isShown else { return }
    self.isShown = isShown
    dom.setText(words, isShown ? Strings[.recoveryAsk] : "")
    dom.setFlag(node, "hidden", !isShown)
  }
}
