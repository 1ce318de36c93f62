/// A mail server on a free port that takes every mail and keeps it.
package final class MailServer: Sendable {
  private let server: LoopbackServer

  package init() {
    server = LoopbackServer { server, connection in
      connection.write("220 hello\r\n")
      while true {
        let command = connection.read(until: "\r\n")
        switch command.prefix(4) {
        case "": return
        case "DATA":
          connection.write("354 go on\r\n")
          server.note(connection.read(until: "\r\n.\r\n"))
          connection.write("250 taken\r\n")
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

  /// The mails in the order taken, their quoted-printable lines put together again.
  package var mails: [String] {
    server.notes.map { $0.replacing("=\r\n", with: "").replacing("=3D", with: "=") }
  }

  /// The first address after `http` in a mail's text.
  package static func link(in mail: String) -> String? {
    guard let range = mail.firstRange(of: "http") else { return nil }
    return String(mail[range.lowerBound...].prefix { !$0.isWhitespace && $0 != "\"" })
  }
}
