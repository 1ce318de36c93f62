import ServerPush

extension Setting {
  /// Notifications, and the application services that the server works with.
  static let push: [Setting] = [
    .list(
      "push.gateways", \.push.gateways,
      "Push gateways and Web Push services of your own, which may be http and in your network; all others are https in the public "
        + "Internet.",
      allowed: "a URL without a path, such as http://127.0.0.1:5000", parse: { gateway($0) }, show: { $0 }),
    .flag(
      "push.web", \.push.isWebOn,
      "Whether browsers are told of messages while no page is open (Web Push). Its key is in `web-push.key` of the data folder."
    ),
    .one(
      "push.web_contact", \.push.webContact,
      "Whom the operators of Web Push services may ask. Where it is not given they get `public_base_url`, else the server's name.",
      allowed: "a URL that starts with mailto: or https://", parse: { contact($0) }, show: { $0 }),
    .integer(
      "push.notification_days", \.push.notificationDays,
      "How many days back the list of one's notifications goes.", 1...3_650),
    .integer(
      "push.mail_delay_minutes", \.push.mailDelayMinutes,
      "How many minutes a message waits to be read before a mail tells of it, to who has asked for mails.", 0...1_440),
    .integer(
      "push.mail_pause_minutes", \.push.mailPauseMinutes,
      "How many minutes after a mail about a room the next one comes at the earliest, unless the room is read meanwhile; the "
        + "pause after each further one is four times as long.", 1...10_080),
    .integer(
      "push.mail_longest_pause_hours", \.push.mailLongestPauseHours, "The longest such pause, in hours.", 1...720),
    .flag(
      "push.mail_shows_messages", \.push.mailShowsMessages,
      "Whether those mails say what was written, or only how much is new in which rooms."),
    .list(
      "app_services", \.appServices, "The registration files of application services: bridges, bots.",
      allowed: "a file", parse: { $0.isEmpty ? nil : $0 }, show: { $0 })
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
  /// What is told to push gateways and by mail, and of what.
  struct Push: Sendable {
    var gateways: [String] = []
    var isWebOn = true
    var webContact: String?
    var notificationDays = 30
    var mailDelayMinutes = 10
    var mailPauseMinutes = 60
    var mailLongestPauseHours = 24
    var mailShowsMessages = true

    /// What the domain needs of them.
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
