import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What the user is notified of, by this browser and by the account's rules.
final class NotificationsPage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let here: Node
  private let pushes: Node
  private let rules: Node
  private let trouble: Node

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    here = dom.element("div", "ma-form", in: page)
    pushes = dom.element("div", "ma-form", in: page)
    CheckBox(dom, Strings[.notificationSound], isOn: Host.setting(Settings.sound) != nil, in: page) { isOn in
      Host.setSetting(Settings.sound, isOn ? "1" : nil)
      app.followArrivals()
      if isOn { Host.playSound() }
    }
    Self.addQuietHours(app, in: page)
    dom.element("p", "ma-note", text: .quietNote, in: page)
    rules = dom.element("div", "ma-form", in: page)
    trouble = frame.trouble(in: page)
    showBrowser()
    showRules()
  }

  private static func addQuietHours(_ app: App<D>, in page: Node) {
    let times = app.dom.element("div", "ma-pair", in: page)
    let from = Field(app.dom, .quietFrom, kind: "time", in: times)
    let until = Field(app.dom, .quietUntil, kind: "time", in: times)
    for (field, key) in [(from, Settings.quietFrom), (until, Settings.quietUntil)] {
      field.set(Host.setting(key) ?? "")
      field.onInput = {
        // Here they hold at once.
        Host.setSetting(key, field.text.utf8.isEmpty ? nil : field.text)
        Host.applyLook()
      }
      field.onChange = { app.setQuietHours(minutes(from.text), minutes(until.text)) }
    }
  }

  /// Of `HH:MM`.
  private static func minutes(_ clock: String) -> Int? {
    let bytes = Array(clock.utf8)
    func digit(_ index: Int) -> Int { Int(bytes[index]) - 48 }
    return bytes.count < 5 ? nil : digit(0) * 600 + digit(1) * 60 + digit(3) * 10 + digit(4)
  }

  // MARK: This browser

  private func showBrowser() {
    dom.releaseChildren(of: here)
    let permission = Host.notificationPermission
    if permission == .unsupported {
      dom.element("p", "ma-note", text: .noNotificationsHere, in: here)
    } else {
      let isOn = Host.setting(Settings.notifications) != nil && permission == .granted
      CheckBox(dom, Strings[.browserNotifications], isOn: isOn, in: here) { [self] in turn($0) }
      if permission == .undecided { dom.element("p", "ma-note", text: .whyNotifications, in: here) }
      if permission == .denied { dom.element("p", "ma-note", text: .notificationsDenied, in: here) }
    }
    showPushes()
  }

  /// What is told while no page is open.
  private func showPushes() {
    dom.releaseChildren(of: pushes)
    guard Host.setting(Settings.notifications) != nil, Host.notificationPermission == .granted else { return }
    guard Host.pageState.contains(.canBePushedTo) else {
      return _ = dom.element("p", "ma-note", text: .noPushesHere, in: pushes)
    }
    CheckBox(dom, Strings[.pushes], isOn: Host.setting(Settings.pushes) != nil, in: pushes) { [self] isOn in
      dom.setText(trouble, "")
      guard isOn else { return app.endPushes() }
      Host.setSetting(Settings.pushes, "")
      app.followPushes { [self] reason in
        if reason != nil { app.endPushes() }
        guard frame.isOpen else { return }
        if let reason {
          dom.setText(trouble, Strings[reason])
          showPushes()
        }
        dom.flush()
      }
    }
  }

  private func turn(_ isOn: Bool) {
    Host.setSetting(Settings.notifications, isOn ? "1" : nil)
    app.followArrivals()
    guard isOn else {
      app.endPushes()
      return showPushes()
    }
    Host.askForNotifications { [self] _ in
      guard frame.isOpen else { return }
      showBrowser()
      app.followArrivals()
      dom.flush()
    }
  }

  // MARK: The account

  private func showRules() {
    dom.releaseChildren(of: rules)
    let known = app.client.pushRules
    let subjects: [(subject: NotificationSubject, words: Strings.Key)] = [
      (.everything, .tellAnything), (.userMentions, .tellMentions), (.roomMentions, .tellRoomMentions),
      (.invitations, .tellInvitations)
    ]
    for (subject, words) in subjects {
      CheckBox(dom, Strings[words], isOn: known.notifies(of: subject), in: rules) { [self] in
        change(.subject(subject, isOn: $0))
      }
    }
    CheckBox(dom, Strings[.tellReactions], isOn: app.client.notificationWishes.hasReactions, in: rules) { [self] isOn in
      if let user = app.userID { app.askOrSay(.setReactionNotifications(isOn, of: user)) }
    }
    addDefault(.oneToOne, .inDirectChats)
    addDefault(.group, .inRooms)
    addKeywords(known.keywords)
  }

  private func addDefault(_ kind: NotificationRoomKind, _ label: Strings.Key) {
    let modes: [(mode: NotificationMode, words: Strings.Key)] = [
      (.allMessages, .notifyAll), (.mentionsAndKeywords, .notifyMentions)
    ]
    let known = app.client.pushRules.defaultMode(of: kind)
    Choice(
      dom, Strings[label], modes.map { ("\($0.mode.rawValue)", Strings[$0.words]) }, selected: "\(known.rawValue)", in: rules
    ) { [self] text in
      let mode = modes.first { "\($0.mode.rawValue)".hasSameBytes(as: text) }?.mode
      if let mode { change(.defaultMode(kind, mode)) }
    }
  }

  private func addKeywords(_ keywords: [ByteString]) {
    let part = dom.element("div", "ma-form", in: rules)
    dom.element("h3", "ma-field-label", text: .keywords, in: part)
    for keyword in keywords {
      let line = dom.element("div", "ma-listed", in: part)
      dom.element("span", "ma-entry-lines", text: keyword.string, in: line)
      let remove = dom.button("ma-round", icon: .close, label: Strings[.removeKeyword, keyword.string], in: line)
      dom.on(remove, .click) { [self] _ in change(.removeKeyword(keyword)) }
    }
    let form = dom.element("form", "ma-form", in: part)
    let field = Field(dom, .newKeyword, hint: .keywordHint, in: form)
    dom.button("ma-button", .addKeyword, submits: true, in: form)
    dom.on(form, .submit) { [self] _ in
      let word = field.text.trimmed
      if !word.utf8.isEmpty { change(.addKeyword(ByteString(word))) }
    }
  }

  private func change(_ change: NotificationChange) {
    dom.setText(trouble, "")
    app.ask(.account(.changeNotifications(change))) { [self] result in
      guard frame.isOpen else { return }
      if case .failed(let error) = result { dom.setText(trouble, Strings.words(for: error)) }
      showRules()
    }
    dom.flush()
  }
}
