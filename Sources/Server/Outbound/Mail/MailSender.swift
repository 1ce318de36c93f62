import Glibc
import Telemetry

/// Hands mails to the operator's mail server, which brings them to their readers. RFC 5321.
package final class MailSender: Sendable {
  private let configuration: MailConfiguration
  private let loop: CurlLoop
  private let log: Log

  /// Mails under way and waiting; one more is `OutboundError.tooBusy`.
  private static let mailsLimit = 200
  private static let connectionsLimit = 2

  package init(_ configuration: MailConfiguration, log: Log) {
    self.configuration = configuration
    self.log = log
    var limits = OutboundConfiguration()
    limits.connectionsLimit = Self.connectionsLimit
    limits.connectionsPerHostLimit = Self.connectionsLimit
    limits.requestsLimit = Self.mailsLimit
    loop = CurlLoop(name: "mail", limits)
  }

  /// Returns once the mail server has taken the message. Throws `refused` with its status where it does not.
  package func send(_ message: MailMessage) async throws(OutboundError) {
    var random = SystemRandomNumberGenerator()
    let unique = message.unique ?? String(random.next(), radix: 36) + String(random.next(), radix: 36)
    let bytes = message.bytes(
      from: configuration.sender, named: configuration.senderName, at: Glibc.time(nil), unique: unique)
    let result: Result<Void, OutboundError> = await loop.run { [configuration] in
      MailTransfer(bytes, to: message.to, configuration, $0)
    }
    if case .failure(let error) = result {
      log.warning("a mail could not be sent", ["error": .text(String(describing: error))])
    }
    return try result.get()
  }

  package func shutdown() async { await loop.stop() }
}
