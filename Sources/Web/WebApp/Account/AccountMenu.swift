import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The menu at the user's own picture: presence, "do not disturb", status, settings and signing out.
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
    menu.add(.doNotDisturb, .muted, isOn: app.snoozedUntil == nil ? nil : true) {
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
    if let until = app.snoozedUntil {
      menu.note(Strings[.quietUntilTime, Host.shortLabel(until)])
      menu.add(.disturbAgain, .bell) { app.askOrSay(.snoozeAll(untilMilliseconds: 0, of: user)) }
    }
    for snooze in Snooze.allCases {
      menu.add(snooze.words) { app.askOrSay(.snoozeAll(untilMilliseconds: snooze.end, of: user)) }
    }
  }
}

extension App {
  func askLogOut() {
    var note = Strings[.logOutNote]
    if hasKeysHereOnly { note += " " + Strings[.logOutLosesKeys] }
    dialogs.open { [self] in
      ConfirmDialog(
        self, Strings[.logOutQuestion], note: note, action: .logOut, busy: .loggingOut, .session(.logOut), in: $0)
    }
  }
}
