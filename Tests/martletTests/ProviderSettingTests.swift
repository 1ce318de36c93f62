import FilesTesting
import Homeserver
import Outbound
import Testing

@testable import martlet

@Suite("Configuration: mail and single sign-on")
struct ProviderSettingTests {
  private func load(_ yaml: String) throws -> Configuration {
    try withTemporaryFile(yaml) { path in
      try ConfigurationLoader.load(flags: ["--config", path], environment: [:]).configuration
    }
  }

  private func refusal(_ yaml: String) -> String {
    do {
      _ = try load(yaml)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  private static let base = "public_base_url: https://b.example\n"

  @Test("Providers come in the order of the file, each with its settings")
  func providers() throws {
    let yaml =
      Self.base + """
        single_sign_on:
          company.example:
            issuer: https://login.example
            client_id: martlet
            client_secret: secret
            name: Our company
            brand: gitlab
            icon: mxc://b.example/icon
            scopes: [openid, email]
            localpart_claim: login
            display_name_claim: full_name
            makes_accounts: false
          other:
            issuer: https://other.example/
            client_id: "1"
        """
    let providers = try load(yaml).identity.providers
    #expect(providers.map(\.id) == ["company.example", "other"])
    let company = try #require(providers.first)
    #expect(company.issuer == "https://login.example" && company.clientID == "martlet")
    #expect(company.clientSecret?.reveal() == "secret" && company.name == "Our company" && company.brand == "gitlab")
    #expect(company.icon?.description == "mxc://b.example/icon" && company.scopes == ["openid", "email"])
    #expect(company.localpartClaim == "login" && company.displayNameClaim == "full_name" && !company.makesAccounts)
    #expect(providers[1].name == "other" && providers[1].clientSecret == nil && providers[1].makesAccounts)
  }

  @Test(
    "What is missing or wrong in a provider is named",
    arguments: [
      ("single_sign_on:\n  a:\n    issuer: https://x\n", "single_sign_on.a needs an issuer and a client_id"),
      ("single_sign_on:\n  a:\n    client_id: x\n", "single_sign_on.a needs an issuer and a client_id"),
      ("single_sign_on:\n  a:\n    issuer: x\n", "\"x\" is not allowed for single_sign_on.a.issuer"),
      ("single_sign_on:\n  a:\n    client_secret: \"\"\n", "the value is not allowed for single_sign_on.a.client_secret"),
      ("single_sign_on:\n  a:\n    scopes: [email]\n", "single_sign_on.a.scopes"),
      ("single_sign_on:\n  a:\n    makes_accounts: maybe\n", "true or false"),
      ("single_sign_on:\n  a:\n    colour: red\n", "unknown setting single_sign_on.a.colour"),
      ("single_sign_on:\n  a b:\n    issuer: https://x\n", "unknown setting single_sign_on.a b.issuer"),
      ("single_sign_on: a\n", "unknown setting single_sign_on")
    ])
  func wrongProvider(_ yaml: String, _ message: String) { #expect(refusal(Self.base + yaml).contains(message)) }

  @Test("Mail and providers need the address that people come back to, and mail a sender")
  func contradictions() {
    #expect(refusal("mail:\n  smtp_url: smtp://m\n  from: a@b.c\n").contains("public_base_url"))
    #expect(refusal(Self.base + "mail:\n  smtp_url: smtp://m\n").contains("mail.from"))
    #expect(refusal("single_sign_on:\n  a:\n    issuer: https://x\n    client_id: y\n").contains("public_base_url"))
    #expect(refusal(Self.base + "registration_needs_email: true\n").contains("mail.smtp_url"))
  }

  @Test(
    "A mail server's URL says whether TLS comes first, and its port is the usual one unless given",
    arguments: [
      ("smtp://m.example", 587, "starttls"), ("smtps://m.example", 465, "tls"), ("smtp://[::1]:25", 25, "starttls"),
      ("smtps://127.0.0.1:1", 1, "tls")
    ])
  func mailServer(_ url: String, _ port: UInt16, _ security: String) throws {
    let yaml = Self.base + "mail:\n  smtp_url: \"\(url)\"\n  from: a@b.c\n"
    let mail = try #require(try load(yaml).identity.mail)
    #expect(mail.port == port && mail.security.rawValue == security)
    let plain = try #require(try load(yaml + "  starttls: false\n").identity.mail)
    #expect(plain.security.rawValue == (security == "tls" ? "tls" : "none"))
  }

  @Test(
    "Other URLs are no mail server's", arguments: ["m.example", "http://m", "smtp://", "smtp://m:0", "smtp://m/x", "smtp://a@m"]
  )
  func noMailServer(_ url: String) { #expect(MailServerURL(url) == nil) }
}
