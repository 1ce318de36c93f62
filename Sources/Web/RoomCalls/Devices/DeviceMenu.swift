import CallCore
import JSON
import Messenger
import WebHost

/// Which camera, microphone and loudspeaker are used.
final class DeviceMenu<D: DOM> {
  private let dom: D
  private let use: (CallDevice) -> Void
  private let root: Node
  private var shown: [CallDevice] = []

  init(_ dom: D, in parent: Node, use: @escaping (CallDevice) -> Void) {
    self.dom = dom
    self.use = use
    root = dom.element("div", "gc-devices", in: parent)
  }

  func close() { dom.release(root) }

  func show(_ devices: [CallDevice]) {
    guard devices != shown else { return }
    shown = devices
    dom.releaseChildren(of: root)
    choice(.camera, .groupCallCamera)
    choice(.microphone, .groupCallMicrophone)
    choice(.loudspeaker, .groupCallLoudspeaker)
  }

  private func choice(_ kind: CallDevice.Kind, _ word: Word) {
    let devices = shown.filter { $0.kind == kind }
    guard !devices.isEmpty else { return }
    let label = dom.element("label", "gc-device", in: root)
    let text = dom.element("span", "", in: label)
    dom.setText(text, word.text)
    let field = dom.element("select", "ma-input", in: label)
    for device in devices {
      let option = dom.element("option", "", in: field)
      dom.setAttribute(option, "value", device.id.string)
      dom.setText(option, device.label.utf8.isEmpty ? word.text : device.label)
      if device.isUsed { dom.setFlag(option, "selected", true) }
    }
    dom.on(field, .change) { [self] event in
      if let device = devices.first(where: { $0.id.string.hasSameBytes(as: event.text) }) { use(device) }
    }
  }
}
