import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// From changes to the parts of the page that show them.
extension App {
  func show(_ changes: [Change]) {
    for change in changes {
      if case .session = change { sessionChanged() }
    }
    for change in changes {
      switch change {
      case .session: break
      case .commandFinished(let id, let result): finished(id, result)
      case .storeFailed: notices.show(.storeFailed, isTrouble: true)
      case .arrived(let room, let events):
        arrived(room, events)
        main?.changed(change)
      case .quietHours: keepQuietHours()
      case .connection:
        main?.changed(change)
        if client.connectionIsRunning { onConnected?() }
      case .ignoredUsers:
        onIgnoredUsers?()
        onIgnoredUsers = nil
        main?.changed(change)
      default: main?.changed(change)
      }
    }
    main?.settle()
    showTitle()
    withdrawNotifications()
    for change in changes { embedding?.heard(change) }
    dom.flush()
  }

  private func sessionChanged() {
    let state = client.sessionState
    switch state {
    case .loading: break
    case .signedIn:
      tellPrivacy()
      authorizeImages()
      if main == nil { enter() }
    case .signedOut, .signingIn, .softLoggedOut:
      if main != nil, state != .signingIn { leave() }
      if signIn == nil, main == nil {
        signIn = SignInScreen(self)
      }
      signIn?.update()
    }
  }

  private func enter() {
    let hasReadInvite = signIn != nil
    signIn?.close()
    signIn = nil
    Host.setSetting(Settings.signedIn, "1")
    effects.server.save()
    tellPresence()
    followPushes()
    renewQuietHours()
    let screen = MainScreen(self)
    main = screen
    screen.begin()
    if invite != nil {
      screen.show(place)
      if hasReadInvite { acceptInvite() } else { showInvite() }
    } else if let destination = next {
      next = nil
      follow(destination, isAddressSet: true)
    } else {
      screen.show(place)
      askFirstStep()
    }
    returnToLanguage()
  }

  /// After creating an account, once: how others shall see its owner.
  func askFirstStep() {
    guard isNewcomer, embedding == nil else { return }
    isNewcomer = false
    dialogs.open(.more) { FirstStepDialog(self, in: $0) }
  }

  /// With the token as it is now: it changes when it is refreshed.
  private func authorizeImages() {
    guard let session = client.session else { return }
    Host.authorizeImages(prefix: effects.server.base + "/_matrix/client/v1/media/", token: session.accessToken.string)
  }

  private func leave() {
    dialogs.closeAll(isEnd: true)
    main?.close()
    main = nil
    Host.authorizeImages(prefix: "", token: "")
    if client.sessionState == .signedOut {
      place = .list
      Host.setSetting(Settings.signedIn, nil)
      next = embedding?.destination
      invite = nil
      wishes = nil
      keptLinks = []
      Host.setFragment("", replacing: true)
      Host.dropAllFiles()
      endPushes()
      keepQuietHours()
    }
  }

  /// Shows the unread count and the current room in the title.
  private func showTitle() {
    var title = Strings[.product]
    if main != nil, let id = place.room, let room = client.room(id) { title = Strings.words(for: room.name) + " · " + title }
    if main != nil, case .administration = place { title = Strings[.administration] + " · " + title }
    let count = main == nil ? 0 : client.notificationCount
    if count > 0 { title = "(\(count)) " + title }
    if !title.hasSameBytes(as: shownTitle) {
      shownTitle = title
      Host.setTitle(title)
    }
    if count != shownCount {
      shownCount = count
      Host.setIconBadge(count)
    }
  }
}
