import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What opens at one's own picture: what others see of one, whether one is to be disturbed, and the way to the settings and out.
struct AccountMenu<D: DOM> {
  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    let menu = Menu(app.client.ownDisplayName?.string ?? app.userID?.string ?? "", in: frame)
    let status = OwnStatus.kept
    if !status.isEmpty { menu.note(status.words) }
    let known = OwnPresence.kept
    for presence in OwnPresence.allCases {
      menu.add(presence.words, presence.icon, isOn: presence == known) { app.show(presence) }
    }
    menu.divide()
    let isQuiet = app.client.notificationWishes.snoozedUntilMilliseconds > Host.wallClockMilliseconds()
    menu.add(.doNotDisturb, .muted, isOn: isQuiet ? true : nil) {
      app.dialogs.open(as: .menu) { QuietMenu(app, in: $0) }
    }
    menu.add(status.isEmpty ? .setStatus : .changeStatus, .smile) { app.dialogs.open { StatusDialog(app, in: $0) } }
    menu.divide()
    menu.add(.settings, .gear) { app.openSettings() }
    menu.add(.logOut, .exit) { app.askLogOut() }
  }
}

/// For how long nothing notifies, as a menu.
struct QuietMenu<D: DOM> {
  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    let menu = Menu(Strings[.doNotDisturb], in: frame)
    guard let user = app.userID else { return }
    let until = app.client.notificationWishes.snoozedUntilMilliseconds
    if until > Host.wallClockMilliseconds() {
      menu.note(Strings[.quietUntilTime, Host.shortLabel(until)])
      menu.add(.disturbAgain, .bell) { app.askOrSay(.snoozeAll(untilMilliseconds: 0, of: user)) }
    }
    for snooze in Snooze.allCases {
      menu.add(snooze.words) { app.askOrSay(.snoozeAll(untilMilliseconds: snooze.end, of: user)) }
    }
  }
}

/// What others see of whether one is there.
enum OwnPresence: String, CaseIterable {
  case online = ""
  case away = "unavailable"
  case invisible = "offline"

  var words: Strings.Key {
    switch self {
    case .online: .presenceOnline
    case .away: .presenceAway
    case .invisible: .presenceHidden
    }
  }

  var icon: Drawing {
    switch self {
    case .online: .user
    case .away: .clock
    case .invisible: .eyeOff
    }
  }

  /// As the sign at one's own picture has it.
  var signClass: String {
    switch self {
    case .online: "ma-presence"
    case .away: "ma-presence ma-away"
    case .invisible: "ma-presence ma-invisible"
    }
  }

  var presence: Presence {
    switch self {
    case .online: .online
    case .away: .unavailable
    case .invisible: .offline
    }
  }

  static var kept: OwnPresence {
    let kept = Host.setting(Settings.presence) ?? ""
    return allCases.first { $0.rawValue.hasSameBytes(as: kept) } ?? .online
  }

  fileprivate func keep() { Host.setSetting(Settings.presence, self == .online ? nil : rawValue) }
}

extension App {
  func show(_ presence: OwnPresence) {
    presence.keep()
    tellPresence(always: true)
    main?.showProfile()
  }

  /// As it was chosen. Who is there needs not say so, unless they did not want to be seen before, or said something that holds no longer.
  func tellPresence(always: Bool = false) {
    let isOver = OwnStatus.kept.isOver
    if isOver { OwnStatus(text: "", until: 0).keep() }
    let (presence, status) = (OwnPresence.kept.presence, OwnStatus.kept)
    if always || isOver || presence != .online || !status.isEmpty {
      ask(.people(.setPresence(presence, message: ByteString(status.text))))
    }
    status.follow(self)
  }

  func askLogOut() {
    dialogs.open { [self] in
      ConfirmDialog(
        self, .logOutQuestion, note: Strings[.logOutNote], action: .logOut, busy: .loggingOut, .session(.logOut), in: $0)
    }
  }
}
