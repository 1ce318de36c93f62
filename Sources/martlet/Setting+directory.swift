import Addresses
import Homeserver
import HomeserverAPI
import Telemetry

extension Setting {
  /// Finding rooms and people, how long messages stay, calls, whom to ask.
  static let directory: [Setting] = finding + retention + delayedEvents + turn + support

  private static let finding: [Setting] = [
    .choice(
      "room_publishing", \.directory.publishing,
      "Who may put a room into the list of public rooms: members with the power to set its main address, or administrators only.",
      words: [("members", .members), ("administrators", .administrators)],
      show: { $0 == .members ? "members" : "administrators" }),
    .choice(
      "user_directory", \.directory.users,
      "Whom a search for users finds: everyone, or who shares a room with the searcher or is in one that is open to anyone.",
      words: [("everyone", .everyone), ("visible", .visible)], show: { $0 == .everyone ? "everyone" : "visible" })
  ]

  private static let retention: [Setting] = [
    .integer(
      "retention.default_hours", \.retention.defaultHours,
      "After how many hours messages are deleted in rooms without an m.room.retention of their own; 0 is never.", 0...876_000),
    .integer(
      "retention.shortest_hours", \.retention.shortestHours,
      "The least number of hours that a room can ask for in m.room.retention.", 0...876_000),
    .integer(
      "retention.longest_hours", \.retention.longestHours,
      "After how many hours messages are deleted in every room, whatever it asks for; 0 is never.", 0...876_000)
  ]

  private static let delayedEvents: [Setting] = [
    .integer(
      "delayed_events.longest_hours", \.delayedEvents.longestHours,
      "The longest delay, in hours, with which a client can have an event sent later.", 1...87_600),
    .integer(
      "delayed_events.per_user", \.delayedEvents.scheduledCount,
      "How many events of one user can wait to be sent later.", 1...10_000)
  ]

  private static let turn: [Setting] = [
    .list(
      "turn.uris", \.turn.uris, "The TURN server that calls go through where there is no direct way.",
      allowed: "a URI that starts with turn: or turns:, such as turn:turn.example.org:3478?transport=udp",
      parse: { isTURN($0) ? $0 : nil }, show: { $0 }),
    .one(
      "turn.secret", \.turn.secret, "The secret shared with the TURN server (its static-auth-secret).",
      allowed: "8 to 255 bytes", isSecret: true,
      parse: { (8...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .integer(
      "turn.lifetime_seconds", \.turn.lifetimeSeconds, "How long credentials for the TURN server are good.",
      60...604_800),
    .flag("turn.guests", \.turn.isOpenToGuests, "Whether guests get credentials for the TURN server."),
    .one(
      "turn.bind", \.turn.bind,
      "Where a TURN server of our own listens, by UDP and TCP. Clients are told of it, by calls.public_addresses or the machine's own, unless turn.uris names another.",
      allowed: "host:port, such as 0.0.0.0:3478 or [::]:3478", defaultText: "none: there is no TURN server of our own",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "turn.ports", \.turn.ports,
      "The UDP ports through which our own TURN server sends, one for each client that needs it. Others must reach them.",
      allowed: "two numbers from 1 to 65535, such as 49160-49359", parse: { portRange($0) },
      show: { "\($0.lowerBound)-\($0.upperBound)" }),
    .list(
      "turn.allowed_networks", \.turn.allowedNetworks,
      "Networks that clients reach through our own TURN server although they are private or the server's own; this machine never is, but for calls.",
      allowed: "an address or range, such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .one(
      "turn.tls_bind", \.turn.tls.bind,
      "Where our own TURN server listens by TLS too, for networks that let nothing else out; with turn.tls_certificate and turn.tls_key.",
      allowed: "host:port, such as 0.0.0.0:5349 or [::]:443", defaultText: "none: it takes no TLS",
      parse: { BindAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "turn.tls_certificate", \.turn.tls.certificate,
      "The certificate for turn.tls_bind and the chain behind it. It is read again within a minute of a change, without an end of calls.",
      allowed: "a file in PEM", parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "turn.tls_key", \.turn.tls.key, "The private key of turn.tls_certificate, without a password.", allowed: "a file in PEM",
      parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "turn.tls_host", \.turn.tls.host,
      "What clients call turn.tls_bind, which the certificate must be for and the DNS lead to this machine.",
      allowed: "a host name, or an IP address that the certificate has",
      defaultText: "server_name without its port, if it is a name",
      parse: { isHostName($0) || IPAddress($0) != nil ? .some($0) : nil }, show: { $0 })
  ]

  private static let support: [Setting] = [
    .list(
      "support.contacts", \.support.contacts, "Whom users may ask, answered at /.well-known/matrix/support.",
      allowed: "role=address: m.role.admin or m.role.security, and a user ID or an e-mail address",
      parse: { contact($0) }, show: { "\($0.role)=\($0.address)" }),
    .one(
      "support.page", \.support.page, "A page with help, answered at /.well-known/matrix/support.",
      allowed: "a URL that starts with https:// or http://", parse: { page($0) }, show: { $0 }),
    .one(
      "delegated_server", \.delegatedServer,
      "Where other servers reach this one if not under its name, answered at /.well-known/matrix/server.",
      allowed: "a host name or IP address, with a port if need be", parse: { host($0) }, show: { $0 })
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
