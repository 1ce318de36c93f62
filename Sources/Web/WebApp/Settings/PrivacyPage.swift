import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What others see of the user, and the people the user has blocked.
final class PrivacyPage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let ignored: Node

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    let seen = dom.element("div", "ma-form", in: page)
    ignored = dom.element("div", "ma-form", in: page)
    addPresence(in: seen)
    CheckBox(dom, Strings[.privateReceipts], isOn: app.keepsReceiptsPrivate, in: seen) { app.keepsReceiptsPrivate = $0 }
    CheckBox(dom, Strings[.privateTyping], isOn: Host.setting(Settings.privateTyping) != nil, in: seen) {
      Host.setSetting(Settings.privateTyping, $0 ? "1" : nil)
      app.tellPrivacy()
    }
    showIgnored()
  }

  private func addPresence(in page: Node) {
    let options = OwnPresence.allCases.map { (value: $0.rawValue, words: Strings[$0.words]) }
    Choice(dom, Strings[.presence], options, selected: OwnPresence.kept.rawValue, in: page) { [app] chosen in
      app.show(OwnPresence.allCases.first { $0.rawValue.hasSameBytes(as: chosen) } ?? .online)
    }
  }

  // MARK: Ignored users

  private func showIgnored() {
    dom.releaseChildren(of: ignored)
    dom.element("h3", "ma-field-label", text: .ignoredUsers, in: ignored)
    for user in app.client.ignoredUsers.users.ordered() {
      let line = dom.element("div", "ma-listed", in: ignored)
      dom.element("span", "ma-entry-lines", text: user.string, in: line)
      let stop = dom.button("ma-button ma-small", .stopIgnoring, in: line)
      dom.setLabel(stop, Strings[.stopIgnoring] + ": " + user.string)
      dom.on(stop, .click) { [self] _ in setIgnored(user, false) }
    }
    let form = dom.element("form", "ma-form", in: ignored)
    let field = Field(dom, .userID, hint: .userIDHint, in: form)
    dom.button("ma-button", .ignore, submits: true, in: form)
    dom.on(form, .submit) { [self] _ in
      guard let user = UserID(field.text.trimmed) else {
        field.setError(Strings.words(for: .invalidUserID))
        return dom.flush()
      }
      setIgnored(user, true)
    }
  }

  /// The list is the account's: it is different once a sync has brought it back, which may be before the answer.
  private func setIgnored(_ user: UserID, _ isIgnored: Bool) {
    app.onIgnoredUsers = { [self] in if frame.isOpen { showIgnored() } }
    app.askOrSay(.people(.setIgnored(user, isIgnored)))
  }
}
