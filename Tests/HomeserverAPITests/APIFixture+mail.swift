import Outbound
import OutboundTesting
import Testing

@testable import Homeserver
@testable import ServerAccounts

extension APIFixture {
  /// Runs a test of an open homeserver at `https://matrix.example.org` with a mail server beside it, which trusts the client at
  /// `https://app.example.com`.
  static func runWithMail(
    _ configure: @escaping (inout HomeserverConfiguration) -> Void = { _ in },
    _ body: (APIFixture, MailServer) async throws -> Void
  ) async throws {
    let mails = MailServer()
    defer { mails.close() }
    let trusted = try #require(WebOrigin(of: "https://app.example.com"))
    let mail = try mailConfiguration(port: mails.port)
    try await run { configuration in
      configuration.registration = .open
      configuration.identity.mail = mail
      configuration.identity.publicBaseURL = "https://matrix.example.org"
      configuration.identity.trustedClients = [trusted]
      configure(&configuration)
    } _: { api in
      try await body(api, mails)
    }
  }

  /// A mail server on this machine.
  static func mailConfiguration(port: UInt16) throws -> MailConfiguration {
    MailConfiguration(
      host: "127.0.0.1", port: port, security: .none, sender: try #require(MailAddress("server@example.org")))
  }
}
