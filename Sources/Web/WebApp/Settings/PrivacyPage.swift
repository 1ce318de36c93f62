import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
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
    CheckBox(dom, Strings[.encryptedPreviews], isOn: app.showsPreviews(encrypted: true), in: seen) {
      app.showPreviews($0, encrypted: true)
    }
    dom.element("p", "ma-note", text: .encryptedPreviewsNote, in: seen)
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
      let person = app.client.person(user)
      dom.fill(
        line, id: user.string, person.name.string, person.isNamed ? user.string : nil, source: app.avatarSource(person.avatar))
      let stop = dom.button("ma-button ma-small", .stopIgnoring, in: line)
      dom.setLabel(stop, Strings[.stopIgnoring, of: person.name.string])
      dom.on(stop, .click) { [self] _ in setIgnored(user, false) }
    }
    let form = dom.element("form", "ma-form", in: ignored)
    let picker = PeoplePicker(app, .one, .personField, hint: .personHint, name: "ma-to-block", at: form) { [frame] in
      frame.isOpen
    }
    dom.button("ma-button", .ignore, submits: true, in: form)
    picker.onTake = { [self] in setIgnored($0, true) }
    dom.on(form, .submit) { _ in _ = picker.settle() }
  }

  /// The list is the account's: it is different once a sync has brought it back, which may be before the answer.
  private func setIgnored(_ user: UserID, _ isIgnored: Bool) {
    app.onIgnoredUsers = { [self] in if frame.isOpen { showIgnored() } }
    app.askOrSay(.people(.setIgnored(user, isIgnored)))
  }
}
