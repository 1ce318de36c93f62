import ServerPush

extension Setting {
  /// Notifications and application services.
  static let push: [Setting] = [
    .list(
      "push.gateways", \.push.gateways,
      "Your own push gateways and Web Push services. They can use http and be in a private network. All others must use https and have "
        + "a public address.",
      allowed: "a URL without a path, such as http://127.0.0.1:5000", parse: { gateway($0) }, show: { $0 }),
    .flag(
      "push.web", \.push.isWebOn,
      "Whether browsers show notifications while no page of the web client is open (Web Push). The server keeps the key in `web-push.key` in data_dir."
    ),
    .one(
      "push.web_contact", \.push.webContact,
      "The address at which operators of Web Push services can contact you.",
      allowed: "a URL that starts with mailto: or https://",
      defaultText: "the origin of public_base_url, or else https:// and server_name", parse: { contact($0) }, show: { $0 }),
    .integer(
      "push.notification_days", \.push.notificationDays,
      "How many days of notifications a user can list.", 1...3_650),
    .integer(
      "push.mail_delay_minutes", \.push.mailDelayMinutes,
      "How many minutes the server waits before it sends a mail about an unread message. Only users who turned on these mails get them.",
      0...1_440),
    .integer(
      "push.mail_pause_minutes", \.push.mailPauseMinutes,
      "The shortest pause between two mails about the same room, in minutes. Each further pause is four times as long. When the user reads "
        + "the room, the pause ends, and the next one is the shortest again.", 1...10_080),
    .integer(
      "push.mail_longest_pause_hours", \.push.mailLongestPauseHours,
      "The longest pause between two mails about the same room, in hours.", 1...720),
    .flag(
      "push.mail_shows_messages", \.push.mailShowsMessages,
      "Whether mails about unread messages contain the text of the messages. If false, they only say how many messages each room has."
    ),
    .list(
      "app_services", \.appServices, "The registration files of application services, such as bridges and bots.",
      allowed: "the path of a file", parse: { $0.isEmpty ? nil : $0 }, show: { $0 })
  ]

  private static func contact(_ text: String) -> String? {
    let isURL = text.hasPrefix("mailto:") && text.utf8.contains(UInt8(ascii: "@")) || text.hasPrefix("https://")
    return isURL && text.utf8.count <= 255 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : nil
  }

  private static func gateway(_ text: String) -> String? {
    let rest = text.hasPrefix("https://") ? text.dropFirst(8) : text.hasPrefix("http://") ? text.dropFirst(7) : ""
    let bytes = rest.utf8
    guard !rest.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return bytes.contains { "/?#@".utf8.contains($0) } ? nil : text
  }
}

extension Configuration {
  /// Push gateways, Web Push, and mails about unread messages.
  struct Push: Sendable {
    var gateways: [String] = []
    var isWebOn = true
    var webContact: String?
    var notificationDays = 30
    var mailDelayMinutes = 10
    var mailPauseMinutes = 60
    var mailLongestPauseHours = 24
    var mailShowsMessages = true

    /// The settings as the homeserver takes them.
    var mails: NotificationMails {
      var mails = NotificationMails()
      mails.delayMilliseconds = Int64(mailDelayMinutes) * 60_000
      mails.pauseMilliseconds = Int64(mailPauseMinutes) * 60_000
      mails.longestPauseMilliseconds = Int64(mailLongestPauseHours) * 60 * 60_000
      mails.showsMessages = mailShowsMessages
      return mails
    }
  }
}
