import FilesTesting
import Testing

@testable import martlet

@Suite("Configuration: file, environment, flags")
struct ConfigurationLoaderTests {
  private func load(_ yaml: String = "", _ environment: [String: String] = [:], _ flags: [String] = []) throws
    -> LoadedConfiguration
  {
    try withTemporaryFile(yaml) { path in
      try ConfigurationLoader.load(flags: ["--config", path] + flags, environment: environment)
    }
  }

  /// The refusal's sentence.
  private func refusal(_ yaml: String = "", _ environment: [String: String] = [:], _ flags: [String] = []) -> String {
    do {
      _ = try load(yaml, environment, flags)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  @Test("A flag beats the environment, which beats the file, which beats the default")
  func precedence() throws {
    let yaml = "server_name: file.example"
    let environment = ["MARTLET_SERVER_NAME": "environment.example"]
    let flags = ["--server-name", "flag.example"]
    #expect(try load().configuration.serverName == "localhost")
    #expect(try load(yaml).configuration.serverName == "file.example")
    #expect(try load(yaml, environment).configuration.serverName == "environment.example")
    #expect(try load(yaml, environment, flags).configuration.serverName == "flag.example")
    #expect(try load(yaml, [:], flags).configuration.serverName == "flag.example")
    #expect(try load("", environment, flags).configuration.serverName == "flag.example")
  }

  @Test("If no file is named, the first of the default files that exists is read")
  func defaultFiles() throws {
    try withTemporaryFile("server_name: first.example") { first throws in
      try withTemporaryFile("server_name: second.example") { second throws in
        func name(_ paths: [String], _ flags: [String] = []) throws -> String {
          try ConfigurationLoader.load(flags: flags, environment: [:], defaultPaths: paths).configuration.serverName
        }
        #expect(try name([first, second]) == "first.example")
        #expect(try name(["/no/such.yaml", second]) == "second.example")
        #expect(try name([first], ["--config", second]) == "second.example")
        #expect(try name([]) == "localhost")
        #expect(ConfigurationLoader.defaultPaths == ["martlet.yaml"], "a program in a clone reads no file of the system")
      }
    }
  }

  @Test("Every setting can be given in all three places with the same effect", arguments: Setting.all.map(\.name))
  func everySetting(name: String) throws {
    let samples = [
      "server_name": "a.example", "bind": "127.0.0.1:1,[::1]:2", "public_base_url": "https://a.example",
      "trusted_proxies": "10.0.0.0/8,::1", "web_dir": "/x",
      "database.url": "postgres://a@b.example/c", "database.password": "p", "database.password_file": "/p",
      "embed_origins": "https://www.example.org,http://localhost:8080", "registration": "closed",
      "presence.enabled": "false", "media.user_quota_bytes": "1000", "media.unauthenticated_downloads": "true",
      "previews.enabled": "false", "previews.denied_urls": "https://*.a.example/*",
      "gifs.url": "https://gifs.example/v1", "gifs.key": "k", "gifs.rating": "g", "gifs.provider": "Some",
      "registration_open_to_everyone": "true",
      "registration_tokens": "one,two", "registration_shared_secret": "a long secret", "password_hash.memory_mib": "8",
      "invite_links.create": "administrators", "invite_links.accounts": "nobody", "invite_links.per_user": "3",
      "invite_links.uses": "4", "invite_links.longest_days": "5",
      "password_hash.iterations": "3", "data_dir": "/y", "max_upload_bytes": "1", "rate_limits": "false",
      "default_room_version": "11", "log.level": "trace", "log.format": "json", "metrics_bind": "127.0.0.1:9",
      "outbound.allowed_networks": "10.0.0.0/8,::1/128", "outbound.denied_networks": "1.1.1.0/24",
      "trusted_clients": "https://app.example.org,org.example.app:", "mail.starttls": "false", "mail.user": "user",
      "mail.password": "password", "mail.from": "a@example.org", "mail.from_name": "Someone",
      "tells_known_addresses": "true", "mail.smtp_url": "smtps://mail.example.org:1",
      "registration_needs_email": "true",
      "allow_guests": "true", "access_token_lifetime_minutes": "5", "issue_login_tokens": "true",
      "jwt.algorithm": "EdDSA", "jwt.secret": "a secret of at least thirty-two bytes", "jwt.public_key_file": "/k.pem",
      "jwt.issuer": "app", "jwt.audiences": "a,b", "jwt.subject_claim": "id", "jwt.display_name_claim": "nick",
      "jwt.picture_claim": "avatar", "profile_fields.allowed": "m.tz,displayname", "profile_fields.disallowed": "m.tz",
      "push.gateways": "http://127.0.0.1:5000", "push.web": "false", "push.web_contact": "mailto:ops@example.org",
      "push.notification_days": "7",
      "push.mail_delay_minutes": "5", "push.mail_pause_minutes": "30", "push.mail_longest_pause_hours": "48",
      "push.mail_shows_messages": "false", "app_services": "/a.yaml,/b.yaml",
      "room_publishing": "administrators", "user_directory": "visible", "retention.default_hours": "30",
      "server_notices.localpart": "voice", "server_notices.display_name": "The voice", "audit.keep_days": "30",
      "retention.shortest_hours": "2", "retention.longest_hours": "48",
      "delayed_events.longest_hours": "12", "delayed_events.per_user": "7", "turn.secret": "a long secret",
      "turn.uris": "turn:a.example,turns:a.example:5349", "turn.lifetime_seconds": "60", "turn.guests": "true",
      "turn.bind": "0.0.0.0:3478", "turn.ports": "1-65535", "turn.allowed_networks": "10.0.0.0/8,::1/128",
      "turn.tls_bind": "0.0.0.0:5349", "turn.tls_certificate": "/c.pem", "turn.tls_key": "/k.pem",
      "turn.tls_host": "turn.a.example",
      "support.contacts": "m.role.admin=@a:a.example,m.role.security=a@a.example", "support.page": "https://a.example",
      "calls.enabled": "false", "calls.bind": "0.0.0.0:9000", "calls.tcp": "false", "calls.workers": "3",
      "calls.home_transports": "7",
      "calls.public_addresses": "192.0.2.1,2001:db8::1", "calls.recordings_quota_bytes": "1000",
      "delegated_server": "a.example:443", "policy_rooms": "!a:a.example", "forget_rooms_on_leave": "true",
      "encryption": "all",
      "media.s3.endpoint": "https://s3.example:9000", "media.s3.region": "eu-central-1", "media.s3.bucket": "photos",
      "media.s3.prefix": "a/b/", "media.s3.addressing": "host", "media.s3.access_key": "AKIA", "media.s3.secret_key": "s",
      "media.s3.secret_key_file": "/s", "media.s3.ca_file": "/ca.pem", "media.cache_bytes": "1000",
      "cluster.bind": "10.0.0.1:8009", "cluster.address": "a.example:8009", "cluster.node": "a", "shutdown.drain_seconds": "7",
      "bus.url": "nats://nats.example:4222"
    ]
    let setting = try #require(Setting.all.first { $0.name == name })
    let sample = try #require(samples[name], "a sample for the new setting is missing")
    let values = setting.isList ? sample.split(separator: ",").map(String.init) : [sample]
    let written = setting.isList ? "[" + values.map { "\"\($0)\"" }.joined(separator: ", ") + "]" : "\"\(sample)\""
    let parts = name.split(separator: ".")
    let lines = parts.enumerated().map { "\(String(repeating: "  ", count: $0))\($1):" }
    let yaml = "\(lines.joined(separator: "\n")) \(written)\n"
    #expect(setting.values(Configuration()) != values, "the sample must differ from the default")
    // Some are nothing alone.
    let mail = [
      "--mail-smtp-url=smtp://mail.example", "--mail-from=a@mail.example", "--public-base-url=https://b.example"
    ]
    let secure = ["--turn-bind=[::1]:1", "--turn-tls-bind=[::1]:2", "--turn-tls-certificate=/1", "--turn-tls-key=/2"]
    let bucket = [
      "--media-s3-endpoint=https://s3.example", "--media-s3-bucket=a", "--media-s3-access-key=b", "--media-s3-secret-key=c"
    ]
    let node = ["--cluster-bind=10.0.0.1:8009", "--database-url=postgres:///a"] + bucket
    let companions = [
      "cluster.bind": Array(node.dropFirst()), "cluster.address": node, "cluster.node": node, "bus.url": node,
      "media.s3.endpoint": Array(bucket.dropFirst()), "media.s3.bucket": [bucket[0], bucket[2], bucket[3]],
      "media.s3.access_key": [bucket[0], bucket[1], bucket[3]], "media.s3.secret_key": Array(bucket.dropLast()),
      "media.s3.secret_key_file": Array(bucket.dropLast()),
      "turn.tls_bind": [secure[0], secure[2], secure[3]], "turn.tls_certificate": [secure[0], secure[1], secure[3]],
      "turn.tls_key": Array(secure.dropLast()), "turn.tls_host": secure,
      "turn.uris": ["--turn-secret=a long secret"], "gifs.url": ["--gifs-key=k"], "mail.smtp_url": Array(mail.dropFirst()),
      "registration_needs_email": mail, "database.password": ["--database-url=postgres:///a"],
      "database.password_file": ["--database-url=postgres:///a"]
    ]
    let companion = companions[name] ?? []
    let flags = ["\(setting.flag)=\(sample)"] + companion
    for loaded in try [load(yaml, [:], companion), load("", [setting.variable: sample], companion), load("", [:], flags)] {
      #expect(setting.values(loaded.configuration) == values)
      #expect(loaded.origins.count == 1 + companion.count)
    }
  }

  @Test("Names in file, environment and flags are distinct")
  func distinctNames() {
    #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
    #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
    #expect(Set(Setting.all.map(\.flag)).count == Setting.all.count)
    #expect(!Setting.all.map(\.flag).contains("--config"))
  }

  @Test("An unknown name is refused with its name and place")
  func unknownName() throws {
    #expect(refusal("# a comment\nserver_nam: x\n").contains("unknown setting server_nam"))
    #expect(refusal("# a comment\nserver_nam: x\n").contains("line 2"))
    #expect(refusal("log:\n  levle: info\n").contains("unknown setting log.levle"))
    #expect(refusal("log: info\n").contains("unknown setting log"))
    #expect(refusal("", [:], ["--server-nam", "x"]).contains("unknown setting --server-nam"))
    #expect(try load("", ["MARTLET_SERVER_NAM": "x", "OTHER": "y"]).unknownVariables == ["MARTLET_SERVER_NAM"])
  }

  @Test(
    "An unknown name is answered with the nearest one",
    arguments: [
      ("server_nam: x\n", "did you mean server_name?"), ("serverName: x\n", "did you mean server_name?"),
      ("level: info\n", "did you mean log.level?"), ("log:\n  levle: info\n", "did you mean log.level?"),
      ("log:\n  server_name: x\n", "did you mean server_name?"), ("sever_naem: x\n", "did you mean server_name?"),
      ("public_url: x\n", "did you mean public_base_url?"), ("rating: x\n", "did you mean gifs.rating?"),
      ("log: info\n", "it is a group of settings: indent level, format below it"),
      ("zebra: x\n", "martlet help lists all settings"),
      ("single_sign_on:\n  a:\n    issuers: x\n", "has the settings issuer, client_id")
    ])
  func nearestName(yaml: String, hint: String) {
    #expect(refusal(yaml).contains(hint), "\(refusal(yaml))")
  }

  @Test("An unknown flag is answered with the nearest one")
  func nearestFlag() {
    #expect(refusal("", [:], ["--server-nam", "x"]).contains("did you mean --server-name?"))
    #expect(refusal("", [:], ["--public-url", "x"]).contains("did you mean --public-base-url?"))
    #expect(refusal("", [:], ["--" + String(repeating: "x", count: 10_000), "x"]).contains("martlet help lists"))
  }

  @Test(
    "What is allowed but probably not meant is a warning",
    arguments: [
      (["--registration=open", "--public-base-url=https://a.example"], "registration is open and public_base_url is set"),
      (["--registration=open", "--trusted-proxies=::1"], "registration is open and trusted_proxies is set"),
      (["--public-base-url=https://a.example"], "server_name is localhost"),
      (["--public-base-url=https://a.example"], "trusted_proxies is not set"),
      (["--public-base-url=http://a.example"], "public_base_url is http"),
      (["--max-upload-bytes=2000", "--media-user-quota-bytes=1000"], "max_upload_bytes is more than"),
      (["--bind=0.0.0.0:8008", "--rate-limits=false"], "rate_limits is false"),
      (["--bind=0.0.0.0:8008", "--password-hash-memory-mib=8"], "password_hash.memory_mib is below 19")
    ])
  func warnings(flags: [String], warning: String) throws {
    let warnings = try load("", [:], flags).configuration.warnings
    #expect(warnings.contains { $0.hasPrefix(warning) }, "\(warnings)")
  }

  @Test(
    "A server for this machine, and one that is set up as the guide says, get no warning",
    arguments: [
      [], ["--rate-limits=false", "--password-hash-memory-mib=8"],
      ["--public-base-url=http://localhost:8008", "--registration=open"],
      ["--public-base-url=http://127.0.0.1"], ["--public-base-url=http://[::1]:8008/chat"], ["--public-base-url=http://[::1]"],
      [
        "--server-name=a.example", "--public-base-url=https://a.example", "--trusted-proxies=127.0.0.1",
        "--registration=open", "--registration-open-to-everyone=true"
      ]
    ])
  func noWarnings(flags: [String]) throws {
    #expect(try load("", [:], flags).configuration.warnings == [])
  }

  @Test("A start says which address other machines use, if they can reach the server")
  func addressForOthers() throws {
    #expect(try load().configuration.addressForOthers == nil)
    let proxied = try load("", [:], ["--public-base-url=https://a.example/"]).configuration.addressForOthers
    #expect(proxied == "Other machines use https://a.example (public_base_url)")
    let direct = try load("", [:], ["--bind=0.0.0.0:8008"]).configuration.addressForOthers
    #expect(direct?.hasPrefix("public_base_url is not set: ") == true)
  }

  @Test(
    "A bad value is refused with name, value and what is allowed",
    arguments: [
      ("registration", "maybe", "open, token, closed"), ("rate_limits", "yes", "true or false"),
      ("max_upload_bytes", "0", "from 1 to"), ("max_upload_bytes", "1e6", "from 1 to"),
      ("max_upload_bytes", "99999999999999999999999", "from 1 to"), ("max_upload_bytes", "-1", "from 1 to"),
      ("bind", "8008", "host:port"), ("bind", ":8008", "host:port"), ("bind", "localhost:65536", "host:port"),
      ("default_room_version", "5", "6, 7, 8, 9, 10, 11, 12"), ("server_name", "a b", "host name"),
      ("server_name", "", "host name"),
      ("public_base_url", "ftp://x", "https://"), ("public_base_url", "https://", "https://"),
      ("trusted_proxies", "10.0.0.0/33", "range"), ("log.level", "loud", "trace, debug, info, warning, error"),
      ("password_hash.memory_mib", "7", "from 8 to 1024"), ("password_hash.memory_mib", "1025", "from 8 to 1024"),
      ("turn.ports", "0-9", "49160-49359"), ("turn.ports", "9-8", "49160-49359"), ("turn.ports", "9-65536", "49160-49359"),
      ("turn.ports", "9", "49160-49359"), ("turn.allowed_networks", "10.0.0.0/33", "range"), ("turn.bind", "3478", "host:port"),
      ("embed_origins", "https://a.example/", "without a path"), ("embed_origins", "a.example", "https://"),
      ("embed_origins", "*", "https://"), ("embed_origins", "https://*.a.example", "https://"),
      ("embed_origins", "org.app:", "https://"),
      ("embed_origins", "https://a.example:443", "https://"), ("embed_origins", "https://[::1]:8080", "https://"),
      ("embed_origins", "https://A.example", "https://"), ("embed_origins", "https://a.example; script-src *", "https://"),
      ("password_hash.iterations", "17", "from 1 to 16"), ("data_dir", "", "a folder")
    ])
  func badValue(name: String, value: String, allowed: String) throws {
    let setting = try #require(Setting.all.first { $0.name == name })
    for text in [refusal("", [setting.variable: value]), refusal("", [:], [setting.flag, value])] {
      #expect(text.contains("\"\(value)\" is not allowed for \(name)"))
      #expect(text.contains(allowed))
    }
    let parts = name.split(separator: ".")
    let yaml = parts.count == 2 ? "\(parts[0]):\n  \(parts[1]): \"\(value)\"\n" : "\n\(name): \"\(value)\"\n"
    #expect(refusal(yaml).contains("line 2"))
  }

  @Test("Both ends of a range are allowed", arguments: ["8", "1024"])
  func rangeEnds(value: String) throws {
    #expect(try load("password_hash: {memory_mib: \(value)}").configuration.passwordHash.memoryMiB == Int(value))
  }

  @Test("A refused secret is not repeated")
  func refusedSecret() {
    for text in [
      refusal("registration_shared_secret: hunter2"), refusal("", ["MARTLET_REGISTRATION_TOKENS": "good,hunter2!"]),
      refusal("", [:], ["--registration-shared-secret", "hunter2"])
    ] {
      #expect(text.contains("the value is not allowed for registration_"))
      #expect(!text.contains("hunter2"))
    }
  }

  @Test("Open registration beyond this machine needs its explicit setting")
  func openRegistration() throws {
    #expect(try load().configuration.registration == .open)
    #expect(try load("bind: 0.0.0.0:8008").configuration.registration == .closed)
    #expect(try load("bind: [\"127.0.0.1:1\", \"0.0.0.0:2\"]").configuration.registration == .closed)
    #expect(try load("public_base_url: https://chat.example.org").configuration.registration == .closed)
    #expect(try load("trusted_proxies: [\"127.0.0.1\"]").configuration.registration == .closed)
    #expect(try load("public_base_url: https://chat.example.org\nregistration: open").configuration.registration == .open)
    let refused = refusal("bind: 0.0.0.0:8008\nregistration: open")
    #expect(refused.contains("0.0.0.0:8008"))
    #expect(refused.contains("registration_open_to_everyone"))
    let allowed = try load("bind: 0.0.0.0:8008\nregistration: open\nregistration_open_to_everyone: true")
    #expect(allowed.configuration.registration == .open)
    #expect(try load("bind: \"[::1]:8008\"\nregistration: open").configuration.registration == .open)
  }

  @Test("Settings that contradict each other are refused")
  func contradictions() {
    #expect(refusal("registration: token") == "accepted")
    #expect(
      refusal("profile_fields:\n  allowed: [displayname]\n  disallowed: [m.tz]").contains("profile_fields.allowed"))
    #expect(refusal("metrics_bind: 127.0.0.1:8008").contains("127.0.0.1:8008"))
    #expect(refusal("bind: 127.0.0.1:0\nmetrics_bind: 127.0.0.1:0") == "accepted")
  }

  @Test("Flags that are incomplete, repeated or no flags are refused")
  func badFlags() {
    #expect(refusal("", [:], ["--bind"]).contains("--bind needs a value"))
    #expect(refusal("", [:], ["8008"]).contains("unexpected 8008"))
    #expect(refusal("", [:], ["--log-level", "info", "--log-level", "debug"]).contains("log.level is given twice"))
  }

  @Test("A list may come in several flags")
  func repeatedListFlag() throws {
    let loaded = try load("", [:], ["--bind", "127.0.0.1:1", "--bind=127.0.0.1:2, [::1]:3"])
    #expect(loaded.configuration.bind.map(\.description) == ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"])
  }

  @Test("A file that is named and not there is refused with its name")
  func missingFile() {
    #expect(throws: ConfigurationError.unreadable(path: "/no/such.yaml", reason: "No such file or directory")) {
      try ConfigurationLoader.load(flags: [], environment: ["MARTLET_CONFIG": "/no/such.yaml"])
    }
  }

  @Test("A TURN server and GIFs need a secret, and no room keeps messages for less than the longest time allows")
  func directoryContradictions() {
    #expect(refusal("turn:\n  uris: [\"turn:a.example\"]").contains("turn.secret"))
    #expect(refusal("retention:\n  longest_hours: 23").contains("retention.longest_hours"))
    #expect(refusal("retention:\n  longest_hours: 24") == "accepted")
    #expect(refusal("support:\n  contacts: [\"m.role.admin=nobody\"]").contains("support.contacts"))
    #expect(refusal("delegated_server: \"a b\"").contains("delegated_server"))
    #expect(refusal("gifs:\n  url: https://gifs.example/v1").contains("gifs.key"))
  }
}
