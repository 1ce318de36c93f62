import Testing

@testable import Outbound

@Suite struct MailMessageTests {
  private func lines(_ message: MailMessage, named name: String = "Martlet") throws -> [String] {
    let sender = try #require(MailAddress("server@example.org"))
    let bytes = message.bytes(from: sender, named: name, at: 1_700_000_000, unique: "u1")
    #expect(bytes.allSatisfy { $0 == 0x0D || $0 == 0x0A || (0x20...0x7E).contains($0) })
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.allSatisfy { $0.utf8.count <= 78 && !$0.utf8.contains(0x0D) && !$0.utf8.contains(0x0A) })
    return lines.map(String.init)
  }

  private func to(_ text: String = "alice@example.com") throws -> MailAddress { try #require(MailAddress(text)) }

  @Test("a text alone is one part under the headers of RFC 5322")
  func plain() throws {
    #expect(
      try lines(MailMessage(to: to(), subject: "Hello there", text: "One\nTwo = 2")) == [
        "From: Martlet <server@example.org>", "To: <alice@example.com>", "Subject: Hello there",
        "Date: Tue, 14 Nov 2023 22:13:20 +0000", "Message-ID: <u1@example.org>", "MIME-Version: 1.0",
        "Auto-Submitted: auto-generated", "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable", "", "One", "Two =3D 2", ""
      ])
  }

  @Test("text and HTML are alternatives, the better one last")
  func alternatives() throws {
    let lines = try lines(MailMessage(to: to(), subject: "s", text: "t", html: "<p>h</p>"))
    let parts = lines.split(separator: "--=_u1", omittingEmptySubsequences: false)
    #expect(parts.count == 3)
    #expect(parts[0].contains("Content-Type: multipart/alternative;") && parts[0].contains(" boundary=\"=_u1\""))
    #expect(parts[1].first == "Content-Type: text/plain; charset=utf-8" && parts[1].last == "t")
    #expect(parts[2].first == "Content-Type: text/html; charset=utf-8" && parts[2].contains("<p>h</p>"))
    #expect(lines.contains("--=_u1--"))
  }

  @Test("a way out of further mails is said in the headers that mail programs know, the same message under the same ID")
  func unsubscribe() throws {
    var message = try MailMessage(to: to(), subject: "s", text: "t")
    message.unsubscribe = "https://example.org/unsubscribe?token=abc"
    let lines = try lines(message)
    let place = try #require(lines.firstIndex(of: "List-Unsubscribe:"))
    #expect(lines[place + 1] == " <https://example.org/unsubscribe?token=abc>")
    #expect(lines[place + 2] == "List-Unsubscribe-Post: List-Unsubscribe=One-Click")
  }

  @Test(
    "what is no URL is no way out",
    arguments: [
      "", "https://a b", "https://a>\r\nBcc: eve@example.org", "https://a\nb", "https://ü.org", "https://a<b",
      "https://a/" + String(repeating: "x", count: MailHeader.urlBytesLimit - 9)
    ])
  func noUnsubscribe(_ url: String) throws {
    var message = try MailMessage(to: to(), subject: "s", text: "t")
    message.unsubscribe = url
    #expect(try !lines(message).contains { $0.hasPrefix("List-Unsubscribe") || $0.hasPrefix("Bcc") })
    #expect(MailHeader.isURL("https://a/" + String(repeating: "x", count: MailHeader.urlBytesLimit - 10)))
  }

  @Test(
    "no text gets out of its header",
    arguments: ["a\r\nBcc: eve@example.org", "a\nBcc: x", "a\rb", "\r\n\r\nbody", "\u{0}", "a\u{2028}b", "\u{85}"])
  func injection(_ text: String) throws {
    let lines = try lines(MailMessage(to: to(), subject: text, text: "t"), named: text)
    let end = try #require(lines.firstIndex(of: ""))
    let names = lines[..<end].filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
    #expect(
      names == [
        "From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Auto-Submitted", "Content-Type",
        "Content-Transfer-Encoding"
      ])
  }

  @Test("a subject in any language becomes encoded words of at most 75 bytes that cut no character")
  func encodedWords() throws {
    let subject = String(repeating: "Grüße 🐦 ", count: 20)
    let lines = try lines(MailMessage(to: to(), subject: subject, text: "t"))
    let start = try #require(lines.firstIndex { $0.hasPrefix("Subject: ") })
    let words =
      [String(lines[start].dropFirst(9))] + lines[(start + 1)...].prefix { $0.hasPrefix(" ") }.map { String($0.dropFirst()) }
    var decoded = ""
    for word in words {
      #expect(word.utf8.count <= 75 && word.hasPrefix("=?utf-8?Q?") && word.hasSuffix("?="))
      let bytes = try unquoted(String(word.dropFirst(10).dropLast(2)).replacing("_", with: " "))
      decoded += try #require(String(validating: bytes, as: UTF8.self))
    }
    #expect(decoded == subject)
  }

  @Test(
    "every text comes through quoted-printable as it was",
    arguments: [
      "", "a", "ends with blank ", "=3D", "tab\tinside", "ümlaut", String(repeating: "x", count: 500),
      String(repeating: "é ", count: 200), ".", "From here"
    ])
  func quotedPrintable(_ text: String) throws {
    let lines = QuotedPrintable.lines(text)
    #expect(lines.allSatisfy { $0.utf8.count <= 76 && !$0.hasSuffix(" ") })
    let joined = lines.map { $0.hasSuffix("=") ? String($0.dropLast()) : $0 + "\n" }.joined()
    #expect(try unquoted(String(joined.dropLast())) == Array(text.utf8))
  }

  @Test("each kind of line break is one")
  func lineBreaks() { #expect(QuotedPrintable.lines("a\nb\r\nc\rd\n\ne") == ["a", "b", "c", "d", "", "e"]) }

  private func unquoted(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "=") {
        bytes.append(try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  @Test(
    "addresses of the everyday kind, in lower case",
    arguments: [
      ("Alice@Example.COM", "alice@example.com"), ("a.b+c@x-y.org", "a.b+c@x-y.org"), ("a@localhost", "a@localhost"),
      (String(repeating: "a", count: 64) + "@example.org", String(repeating: "a", count: 64) + "@example.org")
    ])
  func address(_ text: String, _ canonical: String) { #expect(MailAddress(text)?.description == canonical) }

  @Test(
    "anything else is no address",
    arguments: [
      "", "a", "@b", "a@", "a@b@c", "a b@c.d", "a@b c", "a@-b.c", "a@b-.c", "a@b..c", ".a@b", "a.@b", "a..b@c", "a@b\r\nc",
      "<a@b>", "\"a b\"@c", "a@[127.0.0.1]", "ü@example.org", String(repeating: "a", count: 65) + "@example.org",
      "a@" + String(repeating: "b", count: 64) + ".org", "a@b." + String(repeating: "c.", count: 130) + "d", "a,b@c", "a@b>"
    ])
  func noAddress(_ text: String) { #expect(MailAddress(text) == nil) }
}
