import Addresses
import Outbound
import ServerAccounts
import Telemetry

extension Setting {
  /// What the server asks of others, and whom it lets people go back to.
  static let outbound: [Setting] = [
    .list(
      "outbound.allowed_networks", \.outbound.allowedNetworks,
      "Networks that may be asked for what users name (previews of links, say) although they are not public.",
      allowed: "an IP address or a range such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .list(
      "outbound.denied_networks", \.outbound.deniedNetworks,
      "Networks that are never asked for what users name, besides those that are not public.",
      allowed: "an IP address or a range such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .list(
      "trusted_clients", \.trustedClients,
      "Web clients and apps, besides the one at public_base_url, to which people are sent back without being asked: after a "
        + "single sign-on or a confirmed e-mail address.",
      allowed: "an origin such as https://app.example.org, or the scheme of an app such as org.example.app:",
      parse: { trustedClient($0) }, show: { $0.description })
  ]

  static let mail: [Setting] = [
    .one(
      "mail.smtp_url", \.mail.server,
      "The mail server that takes what Martlet sends: for e-mail addresses of accounts, new passwords and unread messages. Nothing is sent unless set.",
      allowed: "smtp://host:port (port 587 unless given) or, for TLS from the first byte, smtps://host:port (465)",
      parse: { MailServerURL($0).map { .some($0) } }, show: { $0?.description }),
    .flag(
      "mail.starttls", \.mail.startsTLS,
      "Whether an smtp:// connection must become TLS (STARTTLS). Without it everyone on the way reads password and mails."),
    .one(
      "mail.user", \.mail.user, "Who Martlet is to the mail server.", allowed: "1 to 255 bytes",
      defaultText: "none, which sends without logging in",
      parse: { (1...255).contains($0.utf8.count) ? .some($0) : nil }, show: { $0 }),
    .one(
      "mail.password", \.mail.password, "The password of mail.user.", allowed: "1 to 255 bytes", isSecret: true,
      parse: { (1...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .one(
      "mail.from", \.mail.sender, "The address that mails come from.", allowed: "an e-mail address",
      parse: { MailAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "mail.from_name", \.mail.senderName, "The name beside that address.", allowed: "1 to 100 bytes",
      parse: { (1...100).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    .flag(
      "registration_needs_email", \.registrationNeedsEmail,
      "Whether an account can only be made with a confirmed e-mail address."),
    .flag(
      "tells_known_addresses", \.tellsKnownAddresses,
      "Whether anyone who asks is told that an e-mail address has an account here. Otherwise only the reader of the mail learns it."
    )
  ]
}

private func trustedClient(_ text: String) -> WebOrigin? {
  guard let origin = WebOrigin(of: text), origin.description == text else { return nil }
  return origin
}

/// `smtp://host`, `smtps://host`, each with a port if need be.
struct MailServerURL: Sendable, Equatable, CustomStringConvertible {
  let description: String
  let host: String
  let port: UInt16
  let isTLS: Bool

  init?(_ text: String) {
    isTLS = text.hasPrefix("smtps://")
    guard isTLS || text.hasPrefix("smtp://") else { return nil }
    let rest = String(text.dropFirst(isTLS ? 8 : 7))
    description = text
    if isHostName(rest) {
      (host, port) = (rest, isTLS ? 465 : 587)
      return
    }
    guard let address = BindAddress(rest), address.port != 0 else { return nil }
    (host, port) = (address.host, address.port)
  }
}

extension Configuration {
  /// Mail. `server` is nil where none is sent.
  struct Mail: Sendable {
    var server: MailServerURL?
    var startsTLS = true
    var user: String?
    var password: Redacted<String>?
    var sender: MailAddress?
    var senderName = "Martlet"
  }

  /// What the settings of this file need of each other; nil if all is well.
  var outboundContradiction: String? {
    if mail.server != nil, mail.sender == nil { return "mail.smtp_url is set, but mail.from is not" }
    if mail.server != nil, publicBaseURL == nil {
      return "mail.smtp_url is set, but not public_base_url, to which links in mails lead"
    }
    if registrationNeedsEmail, mail.server == nil {
      return "registration_needs_email is true, but without mail.smtp_url no address can be confirmed"
    }
    if let provider = singleSignOn.first {
      if publicBaseURL == nil {
        return "single_sign_on.\(provider.id) is set, but not public_base_url, to which its provider sends people back"
      }
      for provider in singleSignOn where provider.issuer.isEmpty || provider.clientID.isEmpty {
        return "single_sign_on.\(provider.id) needs an issuer and a client_id"
      }
    }
    return nil
  }

  /// What the domain needs of them.
  var identity: IdentityConfiguration {
    var identity = IdentityConfiguration()
    identity.publicBaseURL = publicBaseURL
    identity.trustedClients = trustedClients
    identity.registrationNeedsEmail = registrationNeedsEmail
    identity.tellsKnownAddresses = tellsKnownAddresses
    identity.providers = singleSignOn
    if let server = mail.server, let sender = mail.sender {
      let security: MailConfiguration.Security = server.isTLS ? .tls : mail.startsTLS ? .startTLS : .none
      var configuration = MailConfiguration(host: server.host, port: server.port, security: security, sender: sender)
      configuration.user = mail.user
      configuration.password = mail.password
      configuration.senderName = mail.senderName
      identity.mail = configuration
    }
    return identity
  }
}
