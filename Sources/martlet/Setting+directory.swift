import Addresses
import Homeserver
import HomeserverAPI
import Telemetry

extension Setting {
  /// The directories of rooms and users, retention, delayed events, TURN, and support contacts.
  static let directory: [Setting] = finding + retention + delayedEvents + turn + support

  private static let finding: [Setting] = [
    .choice(
      "room_publishing", \.directory.publishing,
      "Who can list a room among the public rooms. members: members with the power level to set its main address. administrators: administrators only.",
      words: [("members", .members), ("administrators", .administrators)],
      show: { $0 == .members ? "members" : "administrators" }),
    .choice(
      "user_directory", \.directory.users,
      "The users that a search finds. everyone: all users. visible: users who share a room with the searcher, or are in a room that anyone can join or read.",
      words: [("everyone", .everyone), ("visible", .visible)], show: { $0 == .everyone ? "everyone" : "visible" })
  ]

  private static let retention: [Setting] = [
    .integer(
      "retention.default_hours", \.retention.defaultHours,
      "The number of hours after which the server deletes messages, in rooms without a max_lifetime in m.room.retention. 0 means never.",
      0...876_000),
    .integer(
      "retention.shortest_hours", \.retention.shortestHours,
      "The shortest time, in hours, that a room can set as max_lifetime in m.room.retention. The server treats a shorter time as this one.",
      0...876_000),
    .integer(
      "retention.longest_hours", \.retention.longestHours,
      "The number of hours after which the server deletes messages in every room, whatever its m.room.retention says. 0 means never.",
      0...876_000)
  ]

  private static let delayedEvents: [Setting] = [
    .integer(
      "delayed_events.longest_hours", \.delayedEvents.longestHours,
      "The longest delay, in hours, that a client can set for an event that the server sends later.", 1...87_600),
    .integer(
      "delayed_events.per_user", \.delayedEvents.scheduledCount,
      "How many delayed events of one user can wait at a time.", 1...10_000)
  ]

  private static let turn: [Setting] = [
    .list(
      "turn.uris", \.turn.uris,
      "The URIs of a TURN server, through which calls go if there is no direct connection. It needs turn.secret. Martlet's own TURN server then stays off.",
      allowed: "a URI that starts with turn: or turns:, such as turn:turn.example.org:3478?transport=udp",
      parse: { isTURN($0) ? $0 : nil }, show: { $0 }),
    .one(
      "turn.secret", \.turn.secret,
      "The secret that Martlet shares with the server in turn.uris (its static-auth-secret).",
      allowed: "8 to 255 bytes", isSecret: true,
      parse: { (8...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .integer(
      "turn.lifetime_seconds", \.turn.lifetimeSeconds, "How many seconds credentials for the TURN server are valid.",
      60...604_800),
    .flag("turn.guests", \.turn.isOpenToGuests, "Whether guests can get credentials for the TURN server."),
    .one(
      "turn.bind", \.turn.bind,
      "The address of Martlet's own TURN server, by UDP and TCP. Clients get the addresses in calls.public_addresses, or else those of "
        + "this machine. It stays off if turn.uris is set.",
      allowed: "host:port, such as 0.0.0.0:3478 or [::]:3478", defaultText: "none (Martlet's own TURN server is off)",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "turn.ports", \.turn.ports,
      "The range of UDP ports from which Martlet's own TURN server sends, one for each client connection that it relays. The other side of a call must be able to reach them.",
      allowed: "two port numbers from 1 to 65535, such as 49160-49359", parse: { portRange($0) },
      show: { "\($0.lowerBound)-\($0.upperBound)" }),
    .list(
      "turn.allowed_networks", \.turn.allowedNetworks,
      "Networks that clients can reach through Martlet's own TURN server although they are private, or this machine is part of them. On this "
        + "machine itself, clients can reach only calls.",
      allowed: "an IP address or a range such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .one(
      "turn.tls_bind", \.turn.tls.bind,
      "The address of Martlet's own TURN server by TLS, for networks that block everything else. It needs turn.bind, turn.tls_certificate and "
        + "turn.tls_key.",
      allowed: "host:port, such as 0.0.0.0:5349 or [::]:443", defaultText: "none (no TURN by TLS)",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "turn.tls_certificate", \.turn.tls.certificate,
      "The certificate for turn.tls_bind, with its chain. After a change, the server reads it again within about a minute. Calls continue.",
      allowed: "the path of a PEM file", parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "turn.tls_key", \.turn.tls.key, "The private key of turn.tls_certificate. It must not have a password.",
      allowed: "the path of a PEM file",
      parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "turn.tls_host", \.turn.tls.host,
      "The host by which clients connect to turn.tls_bind. The certificate must be valid for it, and DNS must resolve it to this machine. "
        + "It must be set if server_name is an IP address.",
      allowed: "a host name, or an IP address for which the certificate is valid",
      defaultText: "server_name without its port",
      parse: { isHostName($0) || IPAddress($0) != nil ? .some($0) : nil }, show: { $0 })
  ]

  private static let support: [Setting] = [
    .list(
      "support.contacts", \.support.contacts,
      "The people that users can ask for help. Clients find them at /.well-known/matrix/support.",
      allowed: "role=address, with the role m.role.admin or m.role.security, and a user ID or an e-mail address",
      parse: { contact($0) }, show: { "\($0.role)=\($0.address)" }),
    .one(
      "support.page", \.support.page, "The URL of a page with help. Clients find it at /.well-known/matrix/support.",
      allowed: "a URL that starts with https:// or http://", parse: { page($0) }, show: { $0 }),
    .one(
      "delegated_server", \.delegatedServer,
      "The address by which other servers reach this one, if it differs from server_name. They find it at /.well-known/matrix/server.",
      allowed: "a host name or IP address, optionally with a port", parse: { host($0) }, show: { $0 })
  ]
}

private func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }

private func isTURN(_ text: String) -> Bool {
  isPlain(text) && (text.hasPrefix("turn:") && text.utf8.count > 5 || text.hasPrefix("turns:") && text.utf8.count > 6)
}

private func portRange(_ text: String) -> ClosedRange<UInt16>? {
  let parts = text.split(separator: "-", omittingEmptySubsequences: false)
  guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }), let first = UInt16(parts[0]),
    let last = UInt16(parts[1]), 1 <= first, first <= last
  else { return nil }
  return first...last
}

private func contact(_ text: String) -> SupportContacts.Contact? {
  let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
  guard parts.count == 2, parts[0] == "m.role.admin" || parts[0] == "m.role.security", isPlain(parts[1]) else { return nil }
  let isUser = parts[1].hasPrefix("@") && parts[1].contains(":")
  let isMail = !parts[1].hasPrefix("@") && parts[1].split(separator: "@", omittingEmptySubsequences: false).count == 2
  return isUser || isMail && !parts[1].hasSuffix("@") ? .init(role: parts[0], address: parts[1]) : nil
}

private func page(_ text: String) -> String?? {
  guard isPlain(text), text.hasPrefix("https://") && text.utf8.count > 8 || text.hasPrefix("http://") && text.utf8.count > 7
  else { return nil }
  return .some(text)
}

private func host(_ text: String) -> String?? {
  isHostName(text) || BindAddress(text) != nil ? .some(text) : nil
}
