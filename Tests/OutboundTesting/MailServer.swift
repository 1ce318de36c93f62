import Synchronization

/// A mail server on a free port that takes every mail and keeps it, unless it is told to refuse.
package final class MailServer: Sendable {
  private final class Refusals: Sendable {
    let areOn = Atomic<Bool>(false)
    let mails = Mutex<[String]>([])
  }

  private let server: LoopbackServer
  private let refusals = Refusals()

  package init() {
    server = LoopbackServer { [refusals] server, connection in
      connection.write("220 hello\r\n")
      while true {
        let command = connection.read(until: "\r\n")
        switch command.prefix(4) {
        case "": return
        case "DATA":
          connection.write("354 go on\r\n")
          let mail = connection.read(until: "\r\n.\r\n")
          if refusals.areOn.load(ordering: .sequentiallyConsistent) {
            refusals.mails.withLock { $0.append(mail) }
            connection.write("451 later\r\n")
          } else {
            server.note(mail)
            connection.write("250 taken\r\n")
          }
        case "QUIT":
          connection.write("221 bye\r\n")
          return
        default: connection.write("250 fine\r\n")
        }
      }
    }
  }

  package var port: UInt16 { UInt16(server.port) }
  package func close() { server.close() }

  /// Whether mails are turned away, to be sent again later.
  package func refuse(_ refuses: Bool) { refusals.areOn.store(refuses, ordering: .sequentiallyConsistent) }

  /// The mails in the order taken, their quoted-printable lines put together again.
  package var mails: [String] { server.notes.map(Self.joined) }

  /// The mails that were turned away.
  package var refused: [String] { refusals.mails.withLock { $0 }.map(Self.joined) }

  private static func joined(_ mail: String) -> String {
    guard let end = mail.firstRange(of: "\r\n\r\n") else { return mail }
    return String(mail[..<end.lowerBound])
      + String(mail[end.lowerBound...]).replacing("=\r\n", with: "").replacing("=3D", with: "=")
  }

  /// The first address after `http` in a mail's text.
  package static func link(in mail: String) -> String? {
    guard let range = mail.firstRange(of: "http") else { return nil }
    return String(mail[range.lowerBound...].prefix { !$0.isWhitespace && $0 != "\"" })
  }
}
