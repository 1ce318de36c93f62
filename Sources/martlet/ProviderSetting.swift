import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// A setting of one provider of single sign-on, `single_sign_on.<id>.<name>`: of the file only, because the IDs are the
/// operator's.
struct ProviderSetting: Sendable {
  let name: String
  let summary: String
  let allowed: String
  let isSecret: Bool
  /// Takes the values, or returns false and changes nothing if one is not allowed.
  let read: @Sendable ([String], inout SingleSignOnProvider) -> Bool

  static let prefix = "single_sign_on."

  /// In the order of the documentation.
  static let all: [ProviderSetting] = [
    .one("issuer", "The provider, as it writes itself in its tokens. Its discovery document lies below it.", "an https:// URL")
    {
      $0.issuer = $1
    } check: {
      $0.hasPrefix("https://") || $0.hasPrefix("http://")
    },
    .one("client_id", "Who Martlet is to the provider.", "1 to 255 bytes") { $0.clientID = $1 },
    .one("client_secret", "Its secret there; leave it out for a public client.", "1 to 255 bytes", isSecret: true) {
      $0.clientSecret = Redacted($1)
    },
    .one("name", "What people read on the button. By default the ID.", "1 to 255 bytes") { $0.name = $1 },
    .one("brand", "Whose button it looks like: apple, google, gitlab, github, …", "1 to 255 bytes") { $0.brand = $1 },
    .one("icon", "The picture on the button.", "an mxc:// URI") {
      $0.icon = MediaURI(ByteString($1))
    } check: {
      MediaURI(ByteString($0)) != nil
    },
    ProviderSetting(
      name: "scopes", summary: "What is asked of the provider: openid, profile and email unless set.",
      allowed: "a list of words with openid among them", isSecret: false,
      read: { values, provider in
        guard values.contains("openid") else { return false }
        provider.scopes = values
        return true
      }),
    .one("localpart_claim", "The claim that new accounts are named after: preferred_username unless set.", "1 to 255 bytes") {
      $0.localpartClaim = $1
    },
    .one("display_name_claim", "The claim with the name people see: name unless set.", "1 to 255 bytes") {
      $0.displayNameClaim = $1
    },
    .one("makes_accounts", "Whether who comes for the first time gets an account: true unless set.", "true or false") {
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

  /// Takes an entry of the file whose name has the prefix.
  static func take(
    _ entry: ConfigurationFile.Entry, _ origin: ConfigurationOrigin, into configuration: inout Configuration
  ) throws(ConfigurationError) {
    let rest = entry.name.dropFirst(prefix.count)
    guard let dot = rest.lastIndex(of: "."), let setting = all.first(where: { $0.name == rest[dot...].dropFirst() }),
      SingleSignOnProvider.isID(String(rest[..<dot]))
    else { throw .unknownSetting(name: entry.name, origin) }
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

  /// The part of `Documentation/Configuration.md` about providers.
  static func page() -> String {
    var text = """

      ## `single_sign_on`

      Providers of OpenID Connect whose people may log in here, each under an ID of your choice, which is never changed once
      there are accounts; in the file only. At the provider, register `<public_base_url>\(SingleSignOn.callbackPath)` as
      the address to come back to.

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
