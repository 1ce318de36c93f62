import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// The people that users can ask for help, as the server says it.
final class SupportBox<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let heading: String
  private var isHidden = false
  private var isEmpty = true
  /// Whether the page that it stands in is still there.
  var isThere: () -> Bool = { true }

  /// `heading`: the element that stands for it, of the level that the page has here.
  init(_ app: App<D>, heading: String, in parent: Node) {
    self.app = app
    self.heading = heading
    dom = app.dom
    node = dom.element("div", "ma-support", in: parent)
    dom.setFlag(node, "hidden", true)
  }

  func setHidden(_ isHidden: Bool) {
    self.isHidden = isHidden
    dom.setFlag(node, "hidden", isHidden || isEmpty)
  }

  /// Asks the server whether it has something to say.
  func learn() {
    app.ask(.versions()) { [self] in if case .success(let versions) = $0 { learn(from: versions) } }
  }

  /// A server that has nothing to say would answer with an error.
  func learn(from versions: ServerVersions) {
    guard isThere() else { return }
    dom.releaseChildren(of: node)
    isEmpty = true
    setHidden(isHidden)
    guard versions.has("martlet.support") else { return }
    app.ask(.support()) { [self] result in
      guard isThere(), case .success(let found) = result else { return }
      show(found)
      dom.flush()
    }
  }

  private func show(_ found: SupportContacts) {
    dom.releaseChildren(of: node)
    isEmpty = found.contacts.isEmpty && found.page == nil
    setHidden(isHidden)
    guard !isEmpty else { return }
    dom.element(heading, "ma-field-label", text: .supportTitle, in: node)
    for contact in found.contacts {
      if let email = contact.email { addLink(email.string, to: "mailto:" + email.string) }
      if let user = contact.userID { add(user) }
    }
    if let page = found.page { addLink(Strings[.supportPage], to: page.string) }
  }

  private func addLink(_ words: String, to address: String) {
    let link = dom.element("a", "ma-link", text: words, in: node)
    for (name, value) in [("href", address), ("target", "_blank"), ("rel", "noopener noreferrer"), ("dir", "auto")] {
      dom.setAttribute(link, name, value)
    }
  }

  /// Nobody can be written to before signing in.
  private func add(_ user: UserID) {
    guard app.main != nil, user != app.userID else {
      return dom.setAttribute(dom.element("span", text: user.string, in: node), "dir", "ltr")
    }
    let button = dom.button("ma-link", Strings[.startChatWith, user.string], in: node)
    dom.on(button, .click) { [app] _ in
      app.ask(.rooms(.openDirectChat(with: user.text))) { result in
        switch result {
        case .room(let room): app.goTo(.room(room))
        case .failed(let error): app.notices.show(Strings.words(for: error), isTrouble: true)
        default: break
        }
      }
    }
  }
}

extension ClientError {
  /// Whether the account is locked or suspended.
  var isAboutLock: Bool {
    guard case .refused(_, let code, _, _) = self else { return false }
    return code == .userLocked || code == .userSuspended
  }
}
