/// The texts that are made from the list of settings.
enum ConfigurationText {
  /// The effective configuration as a file that could be used again, with each origin, and secrets as `[redacted]`.
  static func effective(_ loaded: LoadedConfiguration) -> String {
    var text = ""
    var group: Substring?
    for setting in Setting.all {
      let parts = setting.name.split(separator: ".")
      let isNested = parts.count == 2
      if isNested, parts[0] != group { text += "\(parts[0]):\n" }
      group = isNested ? parts[0] : nil
      let values = setting.values(loaded.configuration).map { setting.isSecret ? "[redacted]" : $0 }.map(quoted)
      let indentation = isNested ? "  " : ""
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

  /// The part of the help text that lists the settings.
  static func help() -> String {
    var text = ""
    for setting in Setting.all {
      text += "  \(setting.flag), \(setting.variable)\n      \(setting.summary)\n"
      text += "      Allowed: \(setting.allowed). Default: \(setting.defaultDescription).\n"
    }
    return text
  }

  /// `Documentation/Configuration.md`.
  static func page() -> String {
    var text = """
      # Configuration

      Martlet needs no configuration: `./run` gives a working server on this machine. What can be set, can be set in three places;
      a flag beats the environment, the environment beats the file, the file beats the default.

      - **File**: YAML, `martlet.yaml` in the working directory, or the file that `--config FILE` or `MARTLET_CONFIG` names.
        A dot in a name below stands for nesting: `log.level` is `level:` inside `log:`.
      - **Environment**: the variable below. Commas separate the values of a list.
      - **Flag** of `martlet serve`: as below, `--flag value` or `--flag=value`. For a list, give the flag several times or use commas.

      An unknown name or a value that is not allowed stops the server at its start with a message that names it. `martlet config check`
      checks without starting and prints what is in effect and where it comes from, with secrets left out.

          server_name: chat.example.org
          bind: ["127.0.0.1:8008"]
          public_base_url: https://chat.example.org
          trusted_proxies: ["127.0.0.1"]
          registration: token
          registration_tokens: ["come-in-2026"]
          log:
            format: json

      This page is made by `martlet config documentation`; a test keeps it true.

      """
    for setting in Setting.all {
      text += """

        ## `\(setting.name)`

        \(setting.summary)

        Allowed: \(setting.isList ? "a list, each value " : "")\(setting.allowed). Default: \(setting.defaultDescription).
        `\(setting.variable)`, `\(setting.flag)`\(setting.isSecret ? "; a secret: it is never logged or printed." : "")

        """
    }
    return text + ProviderSetting.page()
  }

  /// A YAML scalar: in quotes unless it is plainly a word or number.
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
