import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import SecurityDialogs

/// Whether a person is verified, and the way to verify them. Nothing is shown of people who have no keys, or before anything here is encrypted.
final class TrustLine<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private var user: UserID?
  private var name = ""

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-trust-line", in: parent)
    dom.setFlag(node, "hidden", true)
  }

  /// Asks anew each time: what the server says of the keys may have changed.
  func show(_ user: UserID, name: String) {
    self.user = user
    self.name = name
    guard app.effects.encryption.isBegun, user != app.userID else { return show(nil, user, name) }
    app.effects.encryption.perform(.inspect(user: user.text)) { [self] outcome in
      guard self.user == user else { return }
      if case .trust(let trust)? = outcome { show(trust, user, name) } else { show(nil, user, name) }
      dom.flush()
    }
  }

  func refresh() { if let user { show(user, name: name) } }

  private func show(_ trust: EncryptionReport.Trust?, _ user: UserID, _ name: String) {
    dom.releaseChildren(of: node)
    dom.setFlag(node, "hidden", !(trust?.hasIdentity ?? false))
    guard let trust, trust.hasIdentity else { return }
    TrustMark(dom, isVerified: trust.isVerified, in: node)
    guard !trust.isVerified else { return }
    let button = dom.button("ma-button ma-small", Strings[.verifyPerson, name], in: node)
    dom.on(button, .click) { [app] _ in app.verifications.verify(user, name: name) }
  }
}
