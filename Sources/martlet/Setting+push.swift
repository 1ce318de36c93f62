import Homeserver

extension Setting {
  /// Notifications, and the application services that the server works with.
  static let push: [Setting] = [
    .list(
      "push.gateways", \.push.gateways,
      "Push gateways of your own, which may be http and in your network; all others are https in the public Internet.",
      allowed: "a URL without a path, such as http://127.0.0.1:5000", parse: { gateway($0) }, show: { $0 }),
    .integer(
      "push.notification_days", \.push.notificationDays,
      "How many days back the list of one's notifications goes.", 1...3_650),
    .list(
      "app_services", \.appServices, "The registration files of application services: bridges, bots.",
      allowed: "a file", parse: { $0.isEmpty ? nil : $0 }, show: { $0 })
  ]

  private static func gateway(_ text: String) -> String? {
    let rest = text.hasPrefix("https://") ? text.dropFirst(8) : text.hasPrefix("http://") ? text.dropFirst(7) : ""
    let bytes = rest.utf8
    guard !rest.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return bytes.contains { "/?#@".utf8.contains($0) } ? nil : text
  }
}

extension Configuration {
  /// What is told to push gateways, and of what.
  struct Push: Sendable {
    var gateways: [String] = []
    var notificationDays = 30
  }
}
