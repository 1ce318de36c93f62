import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// A setting of a provider of single sign-on, `single_sign_on.<id>.<name>`. Only the file can have it, because the operator chooses
/// the IDs.
struct ProviderSetting: Sendable {
  let name: String
  let summary: String
  let allowed: String
  let isSecret: Bool
  /// Stores the values in the provider. Returns false and changes nothing if a value is not allowed.
  let read: @Sendable ([String], inout SingleSignOnProvider) -> Bool

  static let prefix = "single_sign_on."

  /// All settings of a provider, in the order of the documentation.
  static let all: [ProviderSetting] = [
    .one(
      "issuer", "The URL of the provider, exactly as in its tokens. Its discovery document is below this URL.",
      "a URL that starts with https:// or http://"
    ) {
      $0.issuer = $1
    } check: {
      $0.hasPrefix("https://") || $0.hasPrefix("http://")
    },
    .one("client_id", "The ID under which you registered Martlet at the provider.", "1 to 255 bytes") { $0.clientID = $1 },
    .one("client_secret", "The secret that belongs to it. Leave it out for a public client.", "1 to 255 bytes", isSecret: true)
    {
      $0.clientSecret = Redacted($1)
    },
    .one("name", "The text of the button for this provider. The default is the ID.", "1 to 255 bytes") { $0.name = $1 },
    .one("brand", "The brand of the button: apple, google, gitlab, github and so on.", "1 to 255 bytes") { $0.brand = $1 },
    .one("icon", "The picture on the button.", "an mxc:// URI") {
      $0.icon = MediaURI(ByteString($1))
    } check: {
      MediaURI(ByteString($0)) != nil
    },
    ProviderSetting(
      name: "scopes", summary: "The scopes that Martlet requests. The default is openid, profile and email.",
      allowed: "a list that contains openid", isSecret: false,
      read: { values, provider in
        guard values.contains("openid") else { return false }
        provider.scopes = values
        return true
      }),
    .one(
      "localpart_claim", "The claim that gives a new account the localpart of its user ID. The default is preferred_username.",
      "1 to 255 bytes"
    ) {
      $0.localpartClaim = $1
    },
    .one("display_name_claim", "The claim that gives a new account its display name. The default is name.", "1 to 255 bytes") {
      $0.displayNameClaim = $1
    },
    .one(
      "makes_accounts", "Whether people get an account when they log in for the first time. The default is true.",
      "true or false"
    ) {
      $0.makesAccounts = $1 == "true"
    } check: {
      $0 == "true" || $0 == "false"
    }
  ]

  private static func one(
    _ name: String, _ summary: String, _ allowed: String, isSecret: Bool = false,
    _ set: @escaping @Sendable (inout SingleSignOnProvider, String) -> Void,
    check: @escaping @Sendable (String) -> Bool = { (1...255).contains($0.utf8.count) }
  ) -> ProviderSetting {
    ProviderSetting(
      name: name, summary: summary, allowed: allowed, isSecret: isSecret,
      read: { values, provider in
        guard values.count == 1, check(values[0]) else { return false }
        set(&provider, values[0])
        return true
      })
  }

  /// Stores an entry of the file in `configuration`. The name of the entry must have `prefix`.
  static func take(
    _ entry: ConfigurationFile.Entry, _ origin: ConfigurationOrigin, into configuration: inout Configuration
  ) throws(ConfigurationError) {
    let rest = entry.name.dropFirst(prefix.count)
    guard let dot = rest.lastIndex(of: "."), let setting = all.first(where: { $0.name == rest[dot...].dropFirst() }),
      SingleSignOnProvider.isID(String(rest[..<dot]))
    else {
      throw .unknownSetting(
        name: entry.name, hint: "single_sign_on.ID has the settings \(all.map(\.name).joined(separator: ", "))", origin)
    }
    let id = String(rest[..<dot])
    let known = configuration.singleSignOn.firstIndex { $0.id == id }
    var provider =
      known.map { configuration.singleSignOn[$0] } ?? SingleSignOnProvider(id: id, name: id, issuer: "", clientID: "")
    guard setting.read(entry.values, &provider) else {
      let shown = setting.isSecret ? nil : entry.values.joined(separator: ", ")
      throw .badValue(name: entry.name, value: shown, allowed: setting.allowed, origin)
    }
    if let known { configuration.singleSignOn[known] = provider } else { configuration.singleSignOn.append(provider) }
  }

  /// Returns the part of `Documentation/Configuration.md` about providers.
  static func page() -> String {
    var text = """

      ## `single_sign_on`

      OpenID Connect providers with which people can log in. Only the file can have these settings, and `public_base_url` must be set.
      Choose an ID for each provider. Never change it once there are accounts. At the provider, register
      `<public_base_url>\(SingleSignOn.callbackPath)` as the redirect URI.

          single_sign_on:
            company:
              name: Our company
              issuer: https://login.example.org
              client_id: martlet
              client_secret: "…"


      """
    for setting in all { text += "- `\(setting.name)`: \(setting.summary) Allowed: \(setting.allowed).\n" }
    return text
  }
}
