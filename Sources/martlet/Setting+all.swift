import Addresses
import HTTPServer
import HomeserverAPI
import MatrixModel
import ServerAccounts
import Telemetry

extension Setting {
  /// Every setting, in the order of the documentation.
  static let all: [Setting] = [
    network,
    database,
    cluster,
    bus,
    outbound,
    accounts,
    logins,
    mail,
    service,
    media,
    bucket,
    previews,
    directory,
    calls,
    administration,
    push,
    diagnostics
  ].flatMap { $0 }

  private static let network: [Setting] = [
    .one(
      "server_name", \.serverName,
      "The name after the colon in user IDs and room aliases. Never change it once there are accounts.",
      allowed: "a host name or IP address of at most 230 characters, optionally with a port",
      parse: { isServerName($0) ? $0 : nil }, show: { $0 }),
    .list(
      "bind", \.bind, "The addresses on which the server accepts clients. Port 0 lets the system choose a free port.",
      allowed: "host:port, such as 127.0.0.1:8008, [::1]:8008 or 0.0.0.0:8008", atLeast: 1,
      parse: { BindAddress($0) }, show: { $0.description }),
    .one(
      "public_base_url", \.publicBaseURL,
      "The URL by which clients reach the server from outside. Clients find it at /.well-known/matrix/client.",
      allowed: "a URL that starts with https:// or http://", parse: { baseURL($0) }, show: { $0 }),
    .list(
      "trusted_proxies", \.trustedProxies,
      "The reverse proxies whose X-Forwarded-For header the server trusts.",
      allowed: "an IP address or a range such as 10.0.0.0/8",
      parse: { IPNetwork($0) }, show: { $0.description }),
    .one(
      "web_dir", \.webDirectory, "The folder that contains the web client.", allowed: "the path of a folder",
      defaultText: "the web client that was built with the server", parse: { $0.isEmpty ? nil : $0 }, show: { $0 }),
    .list(
      "embed_origins", \.embedOrigins,
      "The websites whose pages can embed the messenger (martlet-messenger.js) straight from this server. "
        + "Browsers show the messenger in no other page.",
      allowed: "https:// or http://, a host name and optionally a port, without a path, such as https://www.example.org",
      parse: { embedOrigin($0) }, show: { $0.description })
  ]

  private static let accounts: [Setting] = [
    .choice(
      "registration", \.registrationSetting,
      "Who can create an account. open: anyone. token: anyone with a registration token. closed: only administrators, and programs with registration_shared_secret.",
      defaultText:
        "open if every address in bind is a loopback address and neither trusted_proxies nor public_base_url is set, else closed",
      words: Configuration.Registration.allCases.map { ($0.rawValue, $0) }, show: { $0?.rawValue }),
    .flag(
      "registration_open_to_everyone", \.registrationOpenToEveryone,
      "Must be true if registration is open and other machines can reach an address in bind. Otherwise the server does not start."
    ),
    .list(
      "registration_tokens", \.registrationTokens,
      "The registration tokens that are valid if registration is token, in addition to those that administrators create.",
      allowed: "1 to 64 letters, digits and . _ ~ - (Client-Server API, \"Token-authenticated registration\")",
      isSecret: true,
      parse: { isRegistrationToken($0) ? Redacted($0) : nil }, show: { $0.reveal() }),
    .one(
      "registration_shared_secret", \.registrationSharedSecret,
      "A secret with which a program can create accounts, whatever registration says.", allowed: "8 to 255 bytes",
      isSecret: true,
      parse: { (8...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .choice(
      "invite_links.create", \.inviteLinks.makers,
      "Who can make invite links, each to a room or to themselves. A link does nothing that its maker could not do by inviting.",
      words: InviteLinkRules.Makers.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .choice(
      "invite_links.accounts", \.inviteLinks.registrars,
      "Whose invite links also let people create an account if registration is token or closed.",
      words: InviteLinkRules.Makers.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .integer(
      "invite_links.per_user", \.inviteLinks.perUser,
      "How many valid invite links one user can have. Administrators have no limit.", 1...1_000),
    .integer(
      "invite_links.uses", \.inviteLinks.usesPerLink,
      "How many people one invite link can let in. For links of administrators the limit is \(InviteLinks.usesLimit).",
      1...10_000),
    .integer(
      "invite_links.longest_days", \.inviteLinks.longestDays, "The longest time, in days, that an invite link is valid.",
      1...3_650),
    .integer(
      "password_hash.memory_mib", \.passwordHash.memoryMiB,
      "The memory for hashing one password (Argon2id), in MiB.", 8...1024),
    .integer("password_hash.iterations", \.passwordHash.iterations, "The number of passes over that memory (Argon2id).", 1...16)
  ]

  private static let logins: [Setting] = [
    .flag(
      "allow_guests", \.allowsGuests,
      "Whether people can use the server as guests, without an account. Guests can look into rooms and join those that admit guests."
    ),
    .one(
      "access_token_lifetime_minutes", \.accessTokenLifetimeMinutes,
      "How many minutes an access token is valid. Only tokens of clients that can refresh them expire.",
      allowed: "a whole number from 1 to 525600", defaultText: "none (access tokens do not expire)",
      parse: { text in
        guard text.utf8.allSatisfy(isDigit), let number = Int(text), (1...525_600).contains(number) else { return nil }
        return .some(number)
      },
      show: { $0.map { "\($0)" } }),
    .flag(
      "issue_login_tokens", \.issuesLoginTokens,
      "Whether users who are logged in can get a token that logs in another client. They must enter their password again."),
    .choice(
      "jwt.algorithm", \.jwt.algorithm,
      "Lets the users of your app log in with a signed JSON Web Token (org.matrix.login.jwt). The server accepts this algorithm only, even if a token names another.",
      defaultText: "none (no login with such tokens)", words: JSONWebKey.Algorithm.allCases.map { ($0.rawValue, $0) },
      show: { $0?.rawValue }),
    .one(
      "jwt.secret", \.jwt.secret, "The secret that the app signs tokens with, for HS256.", allowed: "32 to 1024 bytes",
      isSecret: true, parse: { (32...1_024).contains($0.utf8.count) ? .some(Redacted($0)) : nil },
      show: { $0?.reveal() }),
    .one(
      "jwt.public_key_file", \.jwt.publicKeyFile, "The app's public key, for RS256, ES256 and EdDSA.",
      allowed: "the path of a PEM file", parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "jwt.issuer", \.jwt.issuer, "The issuer (iss) that a token must have.", allowed: "1 to 255 bytes",
      defaultText: "none (any issuer)", parse: { (1...255).contains($0.utf8.count) ? .some($0) : nil }, show: { $0 }),
    .list(
      "jwt.audiences", \.jwt.audiences,
      "The audiences (aud) that the server accepts. A token must have at least one of them. If the list is empty, every audience is accepted.",
      allowed: "1 to 255 bytes", parse: { (1...255).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    claim("jwt.subject_claim", \.jwt.subjectClaim, "The claim that names the user."),
    claim("jwt.display_name_claim", \.jwt.displayNameClaim, "The claim that gives a new account its display name."),
    claim("jwt.picture_claim", \.jwt.pictureClaim, "The claim that gives a new account its avatar, an mxc:// URI."),
    .list(
      "profile_fields.allowed", \.profileFieldsAllowed,
      "The only profile fields that users can change themselves. If the list is empty, they can change all except profile_fields.disallowed.",
      allowed: "the name of a profile field, such as displayname or m.tz", parse: { isFieldName($0) ? $0 : nil },
      show: { $0 }),
    .list(
      "profile_fields.disallowed", \.profileFieldsDisallowed,
      "The profile fields that users cannot change themselves. It cannot be combined with profile_fields.allowed.",
      allowed: "the name of a profile field, such as displayname or m.tz", parse: { isFieldName($0) ? $0 : nil },
      show: { $0 })
  ]

  private static func claim(
    _ name: String, _ path: any WritableKeyPath<Configuration, String> & Sendable, _ summary: String
  ) -> Setting {
    .one(
      name, path, summary, allowed: "1 to 255 bytes", parse: { (1...255).contains($0.utf8.count) ? $0 : nil },
      show: { $0 })
  }

  private static let service: [Setting] = [
    .one(
      "data_dir", \.dataDirectory,
      "The folder for the database, the media and the server's keys. The server creates it if it does not exist.",
      allowed: "the path of a folder", parse: { $0.isEmpty ? nil : $0 }, show: { $0 }),
    .flag(
      "presence.enabled", \.isPresenceEnabled,
      "Whether users who share a room see which of them are online. Turning it off saves work on servers with very many users."),
    .flag("rate_limits", \.rateLimits, "Whether the server refuses requests that come too fast, with M_LIMIT_EXCEEDED."),
    .choice(
      "default_room_version", \.defaultRoomVersion, "The version of a new room if its creator does not choose one.",
      words: ["6", "7", "8", "9", "10", "11", "12"].map { ($0, $0) }, show: { $0 }),
    .choice(
      "encryption", \.newRoomEncryption,
      "Which new rooms clients encrypt end to end unless the user decides otherwise. invite_only: direct chats and rooms that only invited users can join. "
        + "Clients find it at /.well-known/matrix/client.",
      words: NewRoomEncryption.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .flag(
      "forget_rooms_on_leave", \.forgetsRoomsOnLeave,
      "Whether a user who leaves a room, or is banned from it, also forgets it. The user can then no longer read its history."
    ),
    .list(
      "policy_rooms", \.policyRooms,
      "Policy rooms on this server. A user they ban cannot invite, join or knock. Nobody can join, knock on or invite into a room they ban.",
      allowed: "a room ID, such as !abc:example.org", parse: { RoomID($0) }, show: { $0.string })
  ]

  private static let diagnostics: [Setting] = [
    .one(
      "shutdown.drain_seconds", \.drainSeconds,
      "How many seconds a server that is stopped goes on answering requests while GET /ready says 503, so that a load balancer sends no more. "
        + "It should be more than the time the load balancer needs to notice.",
      allowed: "a whole number from 0 to 60", defaultText: "5 if cluster.bind is set, else 0",
      parse: { text in
        guard text.utf8.allSatisfy(isDigit), let number = Int(text), (0...60).contains(number) else { return nil }
        return .some(number)
      },
      show: { $0.map { "\($0)" } }),
    .choice(
      "log.level", \.logLevel, "The lowest level of log lines that the server writes to standard error.",
      words: Log.Level.allCases.map { ($0.name, $0) }, show: { $0.name }),
    .choice(
      "log.format", \.logFormat, "The format of log lines: text for people, or json with one object per line.",
      words: LogSink.Format.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .list(
      "metrics_bind", \.metricsBind,
      "The addresses on which the server offers /metrics for Prometheus. Do not make them public.",
      allowed: "host:port, such as 127.0.0.1:9108", parse: { BindAddress($0) }, show: { $0.description })
  ]
}

/// Spec: appendices, "Server Name". The limit leaves room for a localpart within the 255 bytes of a user ID.
private func isServerName(_ text: String) -> Bool {
  guard text.utf8.count <= 230 else { return false }
  if isHostName(text) || BindAddress(text) != nil { return true }
  guard text.hasPrefix("["), text.hasSuffix("]") else { return false }
  return SocketAddress(address: text, port: 0)?.isIPv4 == false
}

/// Spec: Appendices, "Common Namespaced Identifier Grammar".
private func isFieldName(_ text: String) -> Bool {
  (1...255).contains(text.utf8.count)
    && text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || Array("._-".utf8).contains($0) }
}

private func isRegistrationToken(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count)
    && text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || Array("._~-".utf8).contains($0) }
}

/// Returns the URL without the slash at its end; nil if `text` is not an http or https URL, or has a query or fragment.
func baseURL(_ text: String) -> String?? {
  let rest = text.hasPrefix("https://") ? text.dropFirst(8) : text.hasPrefix("http://") ? text.dropFirst(7) : ""
  guard !rest.isEmpty, !rest.hasPrefix("/"), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
  guard !rest.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
  return .some(text.hasSuffix("/") ? String(text.dropLast()) : text)
}

/// Returns nil for anything but the origin of a web page, written as browsers write it. Policies of browsers cannot name IPv6 addresses.
private func embedOrigin(_ text: String) -> WebOrigin? {
  guard let origin = WebOrigin(of: text), origin.description == text, text.contains("://"), !text.contains("[") else {
    return nil
  }
  return origin
}
