import Addresses
import HTTPServer
import MatrixModel
import ServerAccounts
import Telemetry

extension Setting {
  /// Every setting, in the order of the documentation.
  static let all: [Setting] = [
    network,
    outbound,
    accounts,
    logins,
    mail,
    service,
    media,
    directory,
    calls,
    administration,
    push,
    diagnostics
  ].flatMap { $0 }

  private static let network: [Setting] = [
    .one(
      "server_name", \.serverName,
      "The name after the colon in user IDs and room aliases. It can never be changed once there are accounts.",
      allowed: "a host name or IP address, with a port if need be, of at most 230 characters",
      parse: { isServerName($0) ? $0 : nil }, show: { $0 }),
    .list(
      "bind", \.bind, "Where clients connect. Port 0 takes any free port.",
      allowed: "host:port, such as 127.0.0.1:8008, [::1]:8008 or 0.0.0.0:8008", atLeast: 1,
      parse: { BindAddress($0) }, show: { $0.description }),
    .one(
      "public_base_url", \.publicBaseURL,
      "The address by which clients reach the server from outside, answered at /.well-known/matrix/client.",
      allowed: "a URL that starts with https:// or http://", parse: { baseURL($0) }, show: { $0 }),
    .list(
      "trusted_proxies", \.trustedProxies,
      "The reverse proxies whose X-Forwarded-For header is believed.",
      allowed: "an IP address or a range such as 10.0.0.0/8",
      parse: { IPNetwork($0) }, show: { $0.description }),
    .one(
      "web_dir", \.webDirectory, "The folder with the web client's files.", allowed: "a folder",
      defaultText: "the client that was built with the program", parse: { $0.isEmpty ? nil : $0 }, show: { $0 })
  ]

  private static let accounts: [Setting] = [
    .choice(
      "registration", \.registrationSetting,
      "Who may make an account: anyone, those with a registration token, or only who has the shared secret.",
      defaultText:
        "open if every address in bind is a loopback address and neither trusted_proxies nor public_base_url is set, else closed",
      words: Configuration.Registration.allCases.map { ($0.rawValue, $0) }, show: { $0?.rawValue }),
    .flag(
      "registration_open_to_everyone", \.registrationOpenToEveryone,
      "Must be true for open registration on an address that other machines can reach."),
    .list(
      "registration_tokens", \.registrationTokens,
      "The tokens that registration: token accepts, besides those that administrators make.",
      allowed: "1 to 64 letters, digits and . _ ~ - (Client-Server API, \"Token-authenticated registration\")",
      isSecret: true,
      parse: { isRegistrationToken($0) ? Redacted($0) : nil }, show: { $0.reveal() }),
    .one(
      "registration_shared_secret", \.registrationSharedSecret,
      "Whoever has this secret may make accounts whatever registration says.", allowed: "8 to 255 bytes",
      isSecret: true,
      parse: { (8...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .integer(
      "password_hash.memory_mib", \.passwordHash.memoryMiB,
      "Memory that hashing one password takes (Argon2id), in MiB.", 8...1024),
    .integer("password_hash.iterations", \.passwordHash.iterations, "Passes over that memory (Argon2id).", 1...16)
  ]

  private static let logins: [Setting] = [
    .flag(
      "allow_guests", \.allowsGuests,
      "Whether anyone may become a guest, who may look into rooms and join those that admit guests."),
    .one(
      "access_token_lifetime_minutes", \.accessTokenLifetimeMinutes,
      "Minutes until the access token of a client that can refresh it expires. Tokens of other clients do not.",
      allowed: "a whole number from 1 to 525600", defaultText: "none: tokens do not expire",
      parse: { text in
        guard text.utf8.allSatisfy(isDigit), let number = Int(text), (1...525_600).contains(number) else { return nil }
        return .some(number)
      },
      show: { $0.map { "\($0)" } }),
    .flag(
      "issue_login_tokens", \.issuesLoginTokens,
      "Whether who is logged in may, by giving the password again, get a token that logs in another client."),
    .choice(
      "jwt.algorithm", \.jwt.algorithm,
      "The algorithm of the tokens by which an app vouches for its users (org.matrix.login.jwt). The token has no say in it.",
      defaultText: "none: there is no such login", words: JSONWebKey.Algorithm.allCases.map { ($0.rawValue, $0) },
      show: { $0?.rawValue }),
    .one(
      "jwt.secret", \.jwt.secret, "The secret that the app signs with, for HS256.", allowed: "32 to 1024 bytes",
      isSecret: true, parse: { (32...1_024).contains($0.utf8.count) ? .some(Redacted($0)) : nil },
      show: { $0?.reveal() }),
    .one(
      "jwt.public_key_file", \.jwt.publicKeyFile, "The app's public key, for RS256, ES256 and EdDSA.",
      allowed: "a file in PEM", parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "jwt.issuer", \.jwt.issuer, "What a token must have as its issuer (iss).", allowed: "1 to 255 bytes",
      defaultText: "none: any issuer", parse: { (1...255).contains($0.utf8.count) ? .some($0) : nil }, show: { $0 }),
    .list(
      "jwt.audiences", \.jwt.audiences, "One of these must be among a token's audiences (aud). Without any, each is good.",
      allowed: "1 to 255 bytes", parse: { (1...255).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    claim("jwt.subject_claim", \.jwt.subjectClaim, "The claim that names the user."),
    claim("jwt.display_name_claim", \.jwt.displayNameClaim, "The claim that gives a new account its display name."),
    claim("jwt.picture_claim", \.jwt.pictureClaim, "The claim that gives a new account its avatar, an mxc:// URI."),
    .list(
      "profile_fields.allowed", \.profileFieldsAllowed, "The only profile fields that users may change themselves.",
      allowed: "the name of a profile field, such as displayname or m.tz", parse: { isFieldName($0) ? $0 : nil },
      show: { $0 }),
    .list(
      "profile_fields.disallowed", \.profileFieldsDisallowed, "Profile fields that users may not change themselves.",
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
      "The folder of the database, the media and the server's keys. It is made if it is not there.",
      allowed: "a folder", parse: { $0.isEmpty ? nil : $0 }, show: { $0 }),
    .flag(
      "presence.enabled", \.isPresenceEnabled,
      "Whether users who share a room see who of them is online. Off saves work on servers with very many users."),
    .flag("rate_limits", \.rateLimits, "Whether requests that come too fast are answered with M_LIMIT_EXCEEDED."),
    .choice(
      "default_room_version", \.defaultRoomVersion, "The version of rooms whose creator asks for none.",
      words: ["6", "7", "8", "9", "10", "11", "12"].map { ($0, $0) }, show: { $0 }),
    .flag(
      "forget_rooms_on_leave", \.forgetsRoomsOnLeave,
      "Whether a room one leaves is forgotten too, so that its history can no longer be read."),
    .list(
      "policy_rooms", \.policyRooms,
      "Policy rooms on this server whose bans of users and rooms hold for every invitation and join.",
      allowed: "room IDs, such as !abc:example.org", parse: { RoomID($0) }, show: { $0.string })
  ]

  private static let diagnostics: [Setting] = [
    .choice(
      "log.level", \.logLevel, "The least important lines that are written to standard error.",
      words: Log.Level.allCases.map { ($0.name, $0) }, show: { $0.name }),
    .choice(
      "log.format", \.logFormat, "Lines for people, or one JSON object a line.",
      words: LogSink.Format.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .list(
      "metrics_bind", \.metricsBind, "Where Prometheus reads /metrics. Nowhere unless set; keep it from the public.",
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

/// The URL without the slash at its end.
func baseURL(_ text: String) -> String?? {
  let rest = text.hasPrefix("https://") ? text.dropFirst(8) : text.hasPrefix("http://") ? text.dropFirst(7) : ""
  guard !rest.isEmpty, !rest.hasPrefix("/"), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
  guard !rest.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
  return .some(text.hasSuffix("/") ? String(text.dropLast()) : text)
}
