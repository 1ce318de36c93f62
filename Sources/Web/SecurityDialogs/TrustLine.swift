import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets

/// Whether a person is verified, and the way to verify them; and what is wrong with their keys or devices, if anything is. Nothing is shown of people
/// who have no keys, or before anything here is encrypted.
package final class TrustLine<D: DOM> {
  private static var namedDevices: Int { 5 }

  private let encryption: PageEncryption
  private let dom: D
  private let node: Node
  private let verify: (_ user: ByteString, _ name: String) -> Void
  private var user: ByteString?
  private var name = ""
  /// What else is wrong with a user's keys, in words.
  package var warnings: (_ user: ByteString, _ name: String) -> [String] = { _, _ in [] }

  package init(
    _ dom: D, _ encryption: PageEncryption, in parent: Node, verify: @escaping (_ user: ByteString, _ name: String) -> Void
  ) {
    self.dom = dom
    self.encryption = encryption
    self.verify = verify
    node = dom.element("div", "ma-trust-line", in: parent)
    dom.setFlag(node, "hidden", true)
  }

  /// Asks anew each time: what the server says of the keys may have changed.
  package func show(_ user: ByteString, name: String) {
    self.user = user
    self.name = name
    guard encryption.isBegun else { return show(nil) }
    encryption.perform(.inspect(user: user)) { [self] outcome in
      guard self.user == user else { return }
      if case .trust(let trust)? = outcome { show(trust) } else { show(nil) }
      dom.flush()
    }
  }

  package func refresh() { if let user { show(user, name: name) } }

  private func show(_ trust: EncryptionReport.Trust?) {
    dom.releaseChildren(of: node)
    dom.setFlag(node, "hidden", !(trust?.hasIdentity ?? false))
    guard let user, let trust, trust.hasIdentity else { return }
    TrustMark(dom, isVerified: trust.isVerified, in: node)
    if !trust.isVerified {
      let button = dom.button("ma-button ma-small", Strings[.verifyPerson, name], in: node)
      dom.on(button, .click) { [self] _ in verify(user, name) }
    }
    if trust.hasChanged { warn(Strings[.keysChanged, name]) } else { warnOfUnsigned(trust) }
    let refused = Self.list(trust.refused.map { $0.string })
    if !trust.refused.isEmpty { warn(Strings[.refusedDevices, refused]) }
    for words in warnings(user, name) { warn(words) }
  }

  private func warnOfUnsigned(_ trust: EncryptionReport.Trust) {
    let unsigned = trust.devices.filter { !$0.isSigned }
    guard !unsigned.isEmpty else { return }
    warn(Strings[.unsignedDevices, name, Self.list(unsigned.map { Self.name(of: $0, among: trust.devices) })])
  }

  /// With its ID, if another one is called the same.
  private static func name(of device: EncryptionReport.Device, among all: [EncryptionReport.Device]) -> String {
    if device.name.isEmpty { return device.id.string }
    let isShared = all.contains { $0.id != device.id && $0.name == device.name }
    return isShared ? device.name.string + " (" + device.id.string + ")" : device.name.string
  }

  private func warn(_ words: String) { dom.element("p", "ma-note ma-trust-note", text: words, in: node) }

  private static func list(_ names: [String]) -> String {
    names.prefix(namedDevices).joined(separator: ", ") + (names.count > namedDevices ? ", …" : "")
  }
}
