import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The ways to sign in on a page of the server, as it announces them.
final class SingleSignOnButtons<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private var shown: [ByteString]?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-form", in: parent)
  }

  func update(_ flows: LoginFlows?, isNew: Bool) {
    var providers: [(id: ByteString?, name: String)] = []
    if let flows, flows.allowsSingleSignOn {
      providers = flows.identityProviders.map { (id: $0.id, name: $0.name.string) }
      if providers.isEmpty { providers = [(nil, app.effects.server.name)] }
    }
    let names = providers.map { ByteString($0.name) } + (isNew ? ["new"] : [])
    guard names != shown else { return }
    shown = names
    dom.releaseChildren(of: node)
    dom.setFlag(node, "hidden", providers.isEmpty)
    for provider in providers {
      let button = dom.button("ma-button ma-wide", Strings[.goOnWith, provider.name], in: node)
      dom.on(button, .click) { [self] _ in leave(provider.id, isNew: isNew) }
    }
  }

  private func leave(_ provider: ByteString?, isNew: Bool) {
    guard let server = ServerURL(app.effects.server.base) else { return }
    // The page that comes back asks the same server.
    app.effects.server.save()
    app.keepInvite()
    var address = Host.address
    // In the frame of another page its address has a word already.
    if app.embedding == nil {
      let word = String(decoding: Host.randomBytes(16).map { 0x61 + $0 & 15 }, as: UTF8.self)
      Host.keep(word: word)
      address += "?signOn=" + word
    }
    Host.leave(
      for: SingleSignOn.url(
        server, redirect: ByteString(address), provider: provider, action: isNew ? .register : .login))
  }

  /// What a single sign-on brought back; nil where the page's address has none. It is empty without the word that this tab left with:
  /// anybody can write an address that signs others in as themselves.
  static func loginToken(in query: String, word: String) -> ByteString? {
    guard let token = SingleSignOn.loginToken(in: ByteString("?" + query)) else { return nil }
    let wanted = Array(("signOn=" + word).utf8)
    let isOwn = !word.utf8.isEmpty && query.utf8.split(separator: UInt8(ascii: "&")).contains { $0.elementsEqual(wanted) }
    return isOwn ? token : ""
  }
}
