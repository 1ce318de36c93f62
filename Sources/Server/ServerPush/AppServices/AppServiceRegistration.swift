import JSON

/// What an operator registers an application service with, as its file has it.
///
/// Spec: Application Service API, "Registration".
package struct AppServiceRegistration: Sendable {
  package struct Namespace: Sendable {
    package var isExclusive: Bool
    package var expression: ByteString

    package init(isExclusive: Bool, expression: ByteString) {
      self.isExclusive = isExclusive
      self.expression = expression
    }
  }

  /// Unique, never changes.
  package var id: ByteString
  /// http or https, without a slash at the end; nil for a service that is sent nothing.
  package var url: String?
  /// What the service proves itself with.
  package var serviceToken: String
  /// What this server proves itself with.
  package var serverToken: String
  package var senderLocalpart: ByteString
  package var users: [Namespace] = []
  package var aliases: [Namespace] = []
  package var rooms: [Namespace] = []
  /// Whether requests of its users, the sender excepted, are held to the rate limits.
  package var isRateLimited = true
  /// Third-party networks it knows.
  package var protocols: [ByteString] = []
  package var receivesEphemeral = false

  package init(id: ByteString, url: String?, serviceToken: String, serverToken: String, senderLocalpart: ByteString) {
    self.id = id
    self.url = url
    self.serviceToken = serviceToken
    self.serverToken = serverToken
    self.senderLocalpart = senderLocalpart
  }
}
