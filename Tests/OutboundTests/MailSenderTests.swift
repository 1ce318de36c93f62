import OutboundTesting
import Telemetry
import Testing

@testable import Outbound

@Suite struct MailSenderTests {
  /// A mail server that answers each command with what `answer` says; nil takes it.
  private static func server(
    greeting: String = "220 hello", extensions: [String] = [], _ answer: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> LoopbackServer {
    LoopbackServer { server, connection in
      connection.write(greeting + "\r\n")
      while true {
        let command = connection.read(until: "\r\n")
        if command.isEmpty { return }
        let line = String(command.dropLast())
        server.note(line)
        if let given = answer(line) {
          connection.write(given + "\r\n")
          continue
        }
        switch line.prefix(4) {
        case "EHLO":
          let all = ["hello"] + extensions
          for (index, word) in all.enumerated() { connection.write("250\(index == all.count - 1 ? " " : "-")\(word)\r\n") }
        case "AUTH":
          connection.write("334 \r\n")
          server.note(String(connection.read(until: "\r\n").dropLast()))
          connection.write("235 welcome\r\n")
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

  private static func send(
    to server: LoopbackServer, _ change: (inout MailConfiguration) -> Void = { _ in }, text: String = "Hello"
  ) async throws {
    let sender = try #require(MailAddress("server@example.org"))
    var configuration = MailConfiguration(
      host: "127.0.0.1", port: UInt16(server.port), security: .none, sender: sender)
    change(&configuration)
    let mail = MailSender(configuration, log: Log("test"))
    let message = MailMessage(to: try #require(MailAddress("alice@example.com")), subject: "Hi", text: text)
    do {
      try await mail.send(message)
    } catch {
      await mail.shutdown()
      throw error
    }
    await mail.shutdown()
  }

  @Test("a mail is handed over with its envelope, and a line with a dot alone does not end it")
  func envelope() async throws {
    let server = Self.server()
    defer { server.close() }
    try await Self.send(to: server, text: "one\n.\ntwo")
    let notes = server.notes
    #expect(notes.first == "EHLO example.org")
    #expect(notes.contains { $0.hasPrefix("MAIL FROM:<server@example.org>") })
    #expect(notes.contains("RCPT TO:<alice@example.com>"))
    let data = try #require(notes.first { $0.hasPrefix("From: ") })
    #expect(data.contains("\r\n\r\none\r\n..\r\ntwo\r\n.\r\n"))
  }

  @Test("user and password are given where there are some")
  func login() async throws {
    let server = Self.server(extensions: ["AUTH PLAIN"])
    defer { server.close() }
    try await Self.send(to: server) {
      $0.user = "user"
      $0.password = Redacted("pass")
    }
    // Base64 of NUL user NUL pass.
    #expect(server.notes.contains { $0.hasSuffix("AHVzZXIAcGFzcw==") })
  }

  @Test(
    "a refusal comes with its status, and says whether to try again",
    arguments: [
      ("MAIL", 550, false), ("RCPT", 550, false), ("RCPT", 450, true), ("DATA", 554, false), ("AUTH", 535, false)
    ])
  func refusal(_ command: String, _ status: Int, _ isTransient: Bool) async throws {
    let server = Self.server(extensions: ["AUTH PLAIN"]) { line in line.hasPrefix(command) ? "\(status) no" : nil }
    defer { server.close() }
    let error = await #expect(throws: OutboundError.self) {
      try await Self.send(to: server) {
        $0.user = "user"
        $0.password = Redacted("pass")
      }
    }
    #expect(error == .refused(status: status))
    #expect(error?.isTransient == isTransient)
  }

  @Test("a server without STARTTLS gets nothing where TLS is wanted")
  func noTLS() async throws {
    let server = Self.server()
    defer { server.close() }
    await #expect(throws: OutboundError.self) {
      try await Self.send(to: server) {
        $0.security = .startTLS
        $0.user = "user"
        $0.password = Redacted("pass")
      }
    }
    #expect(!server.notes.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") })
  }

  @Test("a certificate that nobody trusts ends a TLS connection")
  func untrusted() async throws {
    let server = Self.server()
    defer { server.close() }
    await #expect(throws: OutboundError.self) { try await Self.send(to: server) { $0.security = .tls } }
    #expect(!server.notes.contains { $0.hasPrefix("MAIL") })
  }
}
