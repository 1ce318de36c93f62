import Database

/// The texts that are generated from the list of settings.
enum ConfigurationText {
  /// Returns the effective configuration as a file that can be used again. It names the origin of each value, and shows secrets as `[redacted]`.
  static func effective(_ loaded: LoadedConfiguration) -> String {
    var text = ""
    var groups: [Substring] = []
    for setting in Setting.all {
      let parts = setting.name.split(separator: ".")
      let shared = zip(parts.dropLast(), groups).prefix { $0 == $1 }.count
      groups = parts.dropLast()
      for level in shared..<groups.count {
        let isEmpty = !hasValue(groups[...level].joined(separator: "."), loaded.configuration)
        text += "\(String(repeating: "  ", count: level))\(isEmpty ? "# " : "")\(groups[level]):\n"
      }
      let values = setting.values(loaded.configuration).map { setting.isSecret ? "[redacted]" : $0 }.map(quoted)
      let indentation = String(repeating: "  ", count: groups.count)
      let origin = loaded.origins[setting.name].map { "# from \($0)" } ?? "# default"
      let comment =
        setting.name == "registration" && values.isEmpty
        ? "# default, now \(loaded.configuration.registration.rawValue)" : origin
      if setting.isList {
        text += "\(indentation)\(parts.last ?? ""): [\(values.joined(separator: ", "))]  \(comment)\n"
      } else if let value = values.first {
        text += "\(indentation)\(parts.last ?? ""): \(value)  \(comment)\n"
      } else {
        text += "\(indentation)# \(parts.last ?? ""):  \(comment)\n"
      }
    }
    if !loaded.configuration.singleSignOn.isEmpty { text += "single_sign_on:\n" }
    for provider in loaded.configuration.singleSignOn {
      text += "  \(quoted(provider.id)):\n    issuer: \(quoted(provider.issuer))\n"
      text += "    client_id: \(quoted(provider.clientID))\n    name: \(quoted(provider.name))\n"
    }
    return text
  }

  /// Whether a setting of the group has a value. A group without would be no valid file.
  private static func hasValue(_ group: String, _ configuration: Configuration) -> Bool {
    Setting.all.contains { $0.name.hasPrefix(group + ".") && ($0.isList || !$0.values(configuration).isEmpty) }
  }

  /// Returns the end of `martlet config check`, as comments, so that the whole output stays a valid file: what was checked, the most
  /// important facts, and what is probably not meant.
  static func summary(_ loaded: LoadedConfiguration) -> String {
    let configuration = loaded.configuration
    var lines = [
      "", "The settings are valid: the names, the values, and that they do not contradict each other. The server checks at its",
      "start whether it can use the files and addresses that they name.", ""
    ]
    func fact(_ name: String, _ value: String) {
      lines.append("  \(name):\(String(repeating: " ", count: max(1, 12 - name.utf8.count)))\(value)")
    }
    fact("File", loaded.path ?? "none; \(loaded.origins.isEmpty ? "everything is a default" : "flags and environment only")")
    fact("Users", "@name:\(configuration.serverName)")
    fact(
      "Listens on",
      configuration.bind.map { "\($0) (\($0.isLoopback ? "this machine only" : "other machines, too"))" }.joined(
        separator: ", "))
    fact("Clients use", configuration.publicBaseURL ?? "the address by which they connect (public_base_url is not set)")
    fact("TLS", configuration.encryption)
    fact("Accounts", configuration.registration.meaning)
    fact("Data", configuration.dataDirectory)
    if let url = configuration.database.url, let address = PostgreSQLAddress(url.reveal()) { fact("Database", "\(address)") }
    for warning in configuration.warnings { lines += ["", "Warning: \(warning)."] }
    for variable in loaded.unknownVariables {
      let hint = NearestName.of(variable, among: Setting.all.map(\.variable)).map { "; did you mean \($0)?" } ?? "."
      lines += ["", "Warning: the environment variable \(variable) does not name a setting\(hint)"]
    }
    return lines.map { $0.isEmpty ? "#\n" : "# \($0)\n" }.joined()
  }

  /// Returns the part of the help text that lists the settings.
  static func help() -> String {
    var text = ""
    for setting in Setting.all {
      text += "  \(setting.flag), \(setting.variable)\n      \(setting.summary)\n"
      text += "      Allowed: \(setting.allowed). Default: \(setting.defaultDescription).\n"
    }
    return text
  }

  /// Returns `Documentation/Configuration.md`.
  static func page() -> String {
    var text = """
      # Configuration

      Martlet works without configuration: `./run` starts a server on this machine. You can change a setting in three places.
      If several of them have the same setting, the first in this list applies:

      1. **Flag** of `martlet serve`: `--flag value` or `--flag=value`. For a list, repeat the flag or separate the values by commas.
      2. **Environment variable**: for a list, separate the values by commas.
      3. **File**: YAML. The server reads the file that `--config FILE` or `MARTLET_CONFIG` names, or else `martlet.yaml` in the
         working directory, or else, for the packaged program, `/etc/martlet/martlet.yaml`. A dot in a name stands for nesting: `log.level` is `level:` inside `log:`.

      If a name is unknown or a value is not allowed, the server does not start, and prints a message that names the setting. Unknown
      environment variables only cause a warning. `martlet config check` checks the configuration without starting the server. It prints each
      setting with its value and the place that sets it, and leaves secrets out. The end says who can reach the server and create accounts,
      and warns of what is allowed but probably not meant. If the YAML is wrong, the message has the line, the column and the lines around it.

      An example of a file:

          server_name: chat.example.org
          bind: ["127.0.0.1:8008"]
          public_base_url: https://chat.example.org
          trusted_proxies: ["127.0.0.1"]
          registration: token
          registration_tokens: ["come-in-2026"]
          log:
            format: json

      `martlet config documentation` generates this page, and a test checks that it is up to date.

      """
    for setting in Setting.all {
      text += """

        ## `\(setting.name)`

        \(setting.summary)

        Allowed: \(setting.isList ? "a list, each value " : "")\(setting.allowed). Default: \(setting.defaultDescription).
        `\(setting.variable)`, `\(setting.flag)`\(setting.isSecret ? ". This is a secret: Martlet never logs or prints it." : "")

        """
    }
    return text + ProviderSetting.page()
  }

  /// Returns a YAML scalar, in quotes unless it is a plain word or number.
  private static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && text != "null"
      && text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2E || $0 == 0x5F }
    if isPlain { return text }
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case _ where scalar.value < 0x20:
        result += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension Configuration {
  /// Who encrypts the connections of clients. Martlet itself does so only for TURN.
  fileprivate var encryption: String {
    if publicBaseURL?.hasPrefix("https://") == true {
      let trusted = trustedProxies.map(\.description).joined(separator: ", ")
      return "by a reverse proxy\(trustedProxies.isEmpty ? "" : " at \(trusted)"); the server itself speaks HTTP"
    }
    return isReachable ? "none, as far as the settings say" : "none, which is fine on this machine"
  }
}

extension Configuration.Registration {
  fileprivate var meaning: String {
    switch self {
    case .open: "anyone can create one (registration is open)"
    case .token: "anyone with a registration token can create one (registration is token)"
    case .closed: "only administrators can create one (registration is closed)"
    }
  }
}
