import Addresses
import Outbound
import ServerAccounts
import Telemetry

extension Setting {
  /// Requests that the server makes, and clients that it sends users back to.
  static let outbound: [Setting] = [
    .list(
      "outbound.allowed_networks", \.outbound.allowedNetworks,
      "Networks that are not public, from which the server can still fetch URLs that users name, for link previews for example.",
      allowed: "an IP address or a range such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .list(
      "outbound.denied_networks", \.outbound.deniedNetworks,
      "Networks from which the server never fetches URLs that users name, even if outbound.allowed_networks has them. Networks that are not public need not be listed.",
      allowed: "an IP address or a range such as 10.0.0.0/8", parse: { IPNetwork($0) }, show: { $0.description }),
    .list(
      "trusted_clients", \.trustedClients,
      "Web clients and apps that the server trusts, in addition to the client at public_base_url. After single sign-on, it sends users "
        + "back to a trusted client without asking them. After they confirm an e-mail address, it sends them back only to a trusted client.",
      allowed: "an origin, such as https://app.example.org, or the scheme of an app, such as org.example.app:",
      parse: { trustedClient($0) }, show: { $0.description })
  ]

  static let mail: [Setting] = [
    .one(
      "mail.smtp_url", \.mail.server,
      "The mail server through which Martlet sends mail: to confirm e-mail addresses, to reset passwords, and about unread messages. "
        + "It needs mail.from and public_base_url.",
      allowed: "smtp://host:port (the default port is 587) or, for TLS from the first byte, smtps://host:port (465)",
      defaultText: "none (Martlet sends no mail)", parse: { MailServerURL($0).map { .some($0) } }, show: { $0?.description }),
    .flag(
      "mail.starttls", \.mail.startsTLS,
      "Whether an smtp:// connection must switch to TLS (STARTTLS). If false, anyone on the network path can read the password and the mails."
    ),
    .one(
      "mail.user", \.mail.user, "The user name with which Martlet logs in to the mail server.", allowed: "1 to 255 bytes",
      defaultText: "none (Martlet sends without logging in)",
      parse: { (1...255).contains($0.utf8.count) ? .some($0) : nil }, show: { $0 }),
    .one(
      "mail.password", \.mail.password, "The password of mail.user.", allowed: "1 to 255 bytes", isSecret: true,
      parse: { (1...255).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .one(
      "mail.from", \.mail.sender, "The address from which Martlet sends mails. It must be set if mail.smtp_url is set.",
      allowed: "an e-mail address",
      parse: { MailAddress($0).map { .some($0) } }, show: { $0?.description }),
    .one(
      "mail.from_name", \.mail.senderName, "The name of the sender in mails from Martlet.", allowed: "1 to 100 bytes",
      parse: { (1...100).contains($0.utf8.count) ? $0 : nil }, show: { $0 }),
    .flag(
      "registration_needs_email", \.registrationNeedsEmail,
      "Whether a user must confirm an e-mail address to create an account. It needs mail.smtp_url."),
    .flag(
      "tells_known_addresses", \.tellsKnownAddresses,
      "Whether anyone can ask the server if an e-mail address belongs to an account. If false, only the reader of a mail to the address learns it."
    )
  ]
}

private func trustedClient(_ text: String) -> WebOrigin? {
  guard let origin = WebOrigin(of: text), origin.description == text else { return nil }
  return origin
}

/// The URL of a mail server: `smtp://host` or `smtps://host`, optionally with a port.
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
  /// Mail. `server` is nil if Martlet sends none.
  struct Mail: Sendable {
    var server: MailServerURL?
    var startsTLS = true
    var user: String?
    var password: Redacted<String>?
    var sender: MailAddress?
    var senderName = "Martlet"
  }

  /// Describes a contradiction between the settings of this file; nil if there is none.
  var outboundContradiction: String? {
    if mail.server != nil, mail.sender == nil { return "mail.smtp_url is set, but mail.from is not" }
    if mail.server != nil, publicBaseURL == nil {
      return "mail.smtp_url is set, but public_base_url is not: links in mails need it"
    }
    if registrationNeedsEmail, mail.server == nil {
      return "registration_needs_email is true, but mail.smtp_url is not set: users could not confirm an e-mail address"
    }
    if let provider = singleSignOn.first {
      if publicBaseURL == nil {
        return "single_sign_on.\(provider.id) is set, but public_base_url is not: the provider sends users back to it"
      }
      for provider in singleSignOn where provider.issuer.isEmpty || provider.clientID.isEmpty {
        return "single_sign_on.\(provider.id) needs an issuer and a client_id"
      }
    }
    return nil
  }

  /// The settings as the homeserver takes them.
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
