import Outbound

/// What an operator decides about how people are known and recognized.
package struct IdentityConfiguration: Sendable {
  /// Where clients reach this server from outside, without a slash at the end: what links in mails and the providers of
  /// single sign-on lead back to. Without it there is neither.
  package var publicBaseURL: String?
  /// Web clients, besides the one at `publicBaseURL`, to which people are sent back without being asked.
  package var trustedClients: [WebOrigin] = []
  /// nil: no mail is sent, and no e-mail addresses are taken.
  package var mail: MailConfiguration?
  /// Whether an account can only be made with a confirmed e-mail address.
  package var registrationNeedsEmail = false
  /// Whether who asks is told that an address is known here or not (`M_THREEPID_IN_USE`, `M_THREEPID_NOT_FOUND`). Otherwise only
  /// the reader of the mail learns it. Spec: `POST /_matrix/client/v3/register/email/requestToken`, 400.
  package var tellsKnownAddresses = false
  package var providers: [SingleSignOnProvider] = []

  package init() {}

  /// Whether e-mail addresses can be confirmed.
  package var confirmsEmail: Bool { mail != nil && publicBaseURL != nil }

  /// Whether people may be sent to the URL without being asked.
  func trusts(_ url: String) -> Bool {
    guard let origin = WebOrigin(of: url) else { return false }
    return trustedClients.contains(origin) || publicBaseURL.flatMap { WebOrigin(of: $0) } == origin
  }
}
