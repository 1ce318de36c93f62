import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What a person can set: about themselves, what they are told of, how the page looks, their devices, their account.
struct SettingsDialog<D: DOM> {
  /// - Parameters:
  ///   - first: the title of the chapter that it opens at; nil for the list of all, with the first one beside it if there is room.
  ///   - frame: opened with the style `page`.
  @discardableResult
  init(_ app: App<D>, at first: Strings.Key? = nil, in frame: DialogFrame<D>) {
    frame.setTitle(.settings)
    _ = Chapters(
      [
        .init(.profileTab, .user) { ProfilePage(app, frame, in: $0) },
        .init(.notifications, .bell) { NotificationsPage(app, frame, in: $0) },
        .init(.appearance, .eye) { AppearancePage(app, in: $0) },
        .init(.privacy, .lock) { PrivacyPage(app, frame, in: $0) },
        .init(.encryptionTab, .shield) { EncryptionPage(app, frame, in: $0) },
        .init(.devices, .device) { DevicesPage(app, frame, in: $0) },
        .init(.inviteLinks, .link) { InviteLinksPage(app, frame, in: $0) },
        .init(.keyboard, .keyboard) { ShortcutList(app.dom, in: $0) },
        .init(.language, .globe) { LanguageChoice(app.dom, returns: true, in: $0) },
        .init(.account, .key) { AccountPage(app, frame, in: $0) },
        .init(.aboutMartlet, .info) { AboutPage(app, frame, in: $0) }
      ], at: first, in: frame)
  }
}

/// The link to the administration page, for administrators.
struct AdministrationLine<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    let place = app.dom.element("div", in: page)
    app.ask(.capabilities()) { result in
      guard frame.isOpen, case .success(let capabilities) = result, capabilities.isAdministrator else { return }
      let open = app.dom.button("ma-button ma-wide", .administration, icon: .gear, in: place)
      app.dom.on(open, .click) { _ in app.goTo(.administration(AdministrationAddress(.overview))) }
      app.dom.flush()
    }
  }
}

extension App {
  /// Opens the settings where the language was changed a moment ago, which took a new page.
  func returnToLanguage() {
    guard Host.setting(Settings.returnsToLanguage) != nil else { return }
    Host.setSetting(Settings.returnsToLanguage, nil)
    openSettings(at: .language)
  }

  /// - Parameter chapter: the title of the one that it opens at.
  func openSettings(at chapter: Strings.Key? = nil) {
    dialogs.open(.more, as: .page) { SettingsDialog(self, at: chapter, in: $0) }
  }
}
