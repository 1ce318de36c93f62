import ClientHost
import EncryptionLink
import Messenger
import PageWidgets

/// How a browser that is not verified becomes so: by another device of its user, or by the recovery key.
package struct ConfirmYouDialog<D: DOM> {
  /// - Parameters:
  ///   - useDevice: begins a verification with another device.
  ///   - useKey: leads to where the recovery key can be entered, and to what helps without it.
  @discardableResult
  package init(in frame: DialogFrame<D>, useDevice: @escaping () -> Void, useKey: @escaping () -> Void) {
    let dom = frame.dom
    frame.setTitle(.confirmYou)
    dom.element("p", "ma-note", text: .confirmYouNote, in: frame.body)
    let list = dom.element("div", "ma-verify-ways", in: frame.body)
    let first = Self.add(dom, .useOtherDevice, .useOtherDeviceNote, .device, in: list) {
      frame.close()
      useDevice()
    }
    Self.add(dom, .useRecoveryKey, .useRecoveryKeyNote, .key, in: list) {
      frame.close()
      useKey()
    }
    frame.setFirst(first)
  }

  @discardableResult
  private static func add(
    _ dom: D, _ name: Strings.Key, _ note: Strings.Key, _ icon: Drawing, in list: Node, _ run: @escaping () -> Void
  ) -> Node {
    let card = dom.button("ma-home-card", in: list)
    icon.draw(dom, in: dom.element("span", "ma-home-sign", in: card))
    let lines = dom.element("span", "ma-entry-lines", in: card)
    dom.element("span", "ma-home-name", text: name, in: lines)
    dom.element("span", "ma-home-note", text: note, in: lines)
    dom.on(card, .click) { _ in run() }
    return card
  }
}
