import Telemetry

/// The mail server through which an operator sends.
package struct MailConfiguration: Sendable {
  package enum Security: String, Sendable, CaseIterable {
    /// TLS from the first byte: port 465.
    case tls
    /// A plain connection that becomes TLS before anything is said, or ends: port 587.
    case startTLS = "starttls"
    /// No secrecy: for a mail server on the same machine.
    case none
  }

  package var host: String
  package var port: UInt16
  package var security: Security
  /// nil sends without logging in.
  package var user: String?
  package var password: Redacted<String>?
  package var sender: MailAddress
  /// Beside the sender's address.
  package var senderName = "Martlet"
  /// For one mail.
  package var timeout = Duration.seconds(30)

  package init(host: String, port: UInt16, security: Security, sender: MailAddress) {
    self.host = host
    self.port = port
    self.security = security
    self.sender = sender
  }
}
