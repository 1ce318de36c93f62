/// Whether the person lets the page show notifications.
public enum NotificationPermission: Int32, Sendable {
  /// The browser has none, or not for this page.
  case unsupported = 0
  /// They were not asked yet.
  case undecided = 1
  case granted = 2
  case denied = 3
}

extension Host {
  public static var notificationPermission: NotificationPermission {
    NotificationPermission(rawValue: hostNotificationPermission()) ?? .unsupported
  }

  /// To be called while the person clicks: browsers do not ask at other times.
  public static func askForNotifications(_ then: @escaping (NotificationPermission) -> Void) {
    hostNotificationAsk(registerOnce { then(NotificationPermission(rawValue: $0.code) ?? .unsupported) })
  }

  /// Without a sound of the system's.
  /// - Parameters:
  ///   - tag: a notification with the same one is replaced.
  ///   - picture: stands beside the words, where it is the account's media; empty for the page's.
  ///   - then: the person clicked it; the page has the focus.
  public static func notify(title: String, text: String, tag: String, picture: String = "", _ then: @escaping () -> Void) {
    let id = registerOnce { _ in then() }
    hostNotificationShow(id, fields(picture, tag, title, text))
  }

  /// Takes away the notification with that tag, if it is still there.
  public static func withdrawNotification(tag: String) { hostNotificationWithdraw(tag) }

  /// A short one, for a message.
  public static func playSound() { hostNotificationSound() }

  /// Looks at the settings `theme` (none for the system's, `light`, `dark`, `contrast`), `density` (none, `compact`), `quiet-from` and
  /// `quiet-until` again.
  public static func applyLook() { hostLookApply() }
}
