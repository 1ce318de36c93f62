import Glibc

/// A mail to one person, as text and, where the reader's program shows it, as HTML.
package struct MailMessage: Sendable {
  package var to: MailAddress
  /// Any text; it can end neither its line nor its header.
  package var subject: String
  package var text: String
  /// The same as HTML; nil sends text only.
  package var html: String?
  /// Where a POST without a session ends mails of this kind. RFC 2369 §3.2, RFC 8058 §3.1.
  package var unsubscribe: String?
  /// Letters and digits that only this message has, if it is sent again too: mail servers then know it. nil takes random ones.
  package var unique: String?

  package init(to: MailAddress, subject: String, text: String, html: String? = nil) {
    self.to = to
    self.subject = subject
    self.text = text
    self.html = html
  }

  /// The message of RFC 5322 with MIME parts (RFC 2046), in ASCII lines of at most 78 bytes (but for a longer URL) and with CR LF.
  ///
  /// - Parameters:
  ///   - senderName: shown beside the address; empty for none.
  ///   - seconds: since 1970.
  ///   - unique: letters and digits that no other message has.
  func bytes(from sender: MailAddress, named senderName: String, at seconds: Int, unique: String) -> [UInt8] {
    let name = senderName.isEmpty ? "" : MailHeader.encode(senderName, after: 6) + " "
    var lines = [
      "From: \(name)<\(sender)>", "To: <\(to)>", "Subject: " + MailHeader.encode(subject, after: 9),
      "Date: " + MailHeader.date(seconds), "Message-ID: <\(unique)@\(sender.domain)>", "MIME-Version: 1.0",
      // RFC 3834: nobody's holiday notice needs to come back.
      "Auto-Submitted: auto-generated"
    ]
    if let unsubscribe, MailHeader.isURL(unsubscribe) {
      // Nothing can be folded inside of a URL.
      lines += ["List-Unsubscribe:", " <\(unsubscribe)>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"]
    }
    let plain = Self.part("text/plain", text)
    if let html {
      let boundary = "=_" + unique
      lines += ["Content-Type: multipart/alternative;", " boundary=\"\(boundary)\"", "", "--" + boundary]
      lines += plain + ["--" + boundary] + Self.part("text/html", html) + ["--" + boundary + "--"]
    } else {
      lines += plain
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
  }

  private static func part(_ type: String, _ text: String) -> [String] {
    ["Content-Type: \(type); charset=utf-8", "Content-Transfer-Encoding: quoted-printable", ""]
      + QuotedPrintable.lines(text)
  }
}

/// Text in headers. RFC 2047 §4.2 and §5, RFC 5322 §3.3.
enum MailHeader {
  /// Encoded words where need be, folded; always without a control character.
  ///
  /// - Parameter used: bytes that the line has before.
  static func encode(_ text: String, after used: Int) -> String {
    let isPlain = text.utf8.allSatisfy { $0 == 0x20 || isWord($0) } && text.utf8.count + used <= 76
    if isPlain, text.utf8.first != 0x20, text.utf8.last != 0x20 { return text }
    var words: [String] = []
    var word = ""
    // 75 bytes with "=?utf-8?Q?" and "?=", less where the header's name comes first.
    var room = 63 - used
    for scalar in text.unicodeScalars {
      let encoded = String(scalar).utf8.map {
        isWord($0) ? String(UnicodeScalar($0)) : $0 == 0x20 ? "_" : QuotedPrintable.hex($0)
      }
      .joined()
      if word.utf8.count + encoded.utf8.count > room {
        words.append(word)
        word = ""
        room = 62
      }
      word += encoded
    }
    return (words + [word]).map { "=?utf-8?Q?\($0)?=" }.joined(separator: "\r\n ")
  }

  /// Whether it may stand between angle brackets as it is.
  static func isURL(_ text: String) -> Bool {
    (1...urlBytesLimit).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
  }

  /// A line has at most 998 bytes. RFC 5322 §2.1.1.
  static let urlBytesLimit = 990

  /// `Fri, 20 Nov 2026 21:47:39 +0000`
  static func date(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    let (day, month) = (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
    return "\(day), \(parts.tm_mday) \(month) \(parts.tm_year + 1900) \(clock) +0000"
  }

  /// Letters, digits and what is special nowhere in a header.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!*+-/".utf8.contains(byte)
    }
  }
}

/// RFC 2045 §6.7.
enum QuotedPrintable {
  /// Lines of at most 76 bytes; every kind of line break in the text ends a line.
  static func lines(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    var previous: UInt8 = 0
    for byte in text.utf8 {
      defer { previous = byte }
      if byte == 0x0A && previous == 0x0D { continue }
      if byte == 0x0A || byte == 0x0D {
        lines.append(closed(line))
        line = ""
        continue
      }
      let encoded = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "=") ? String(UnicodeScalar(byte)) : hex(byte)
      // A blank at the end may become three bytes.
      if line.utf8.count + encoded.utf8.count > 73 {
        lines.append(line + "=")
        line = ""
      }
      line += encoded
    }
    return lines + [closed(line)]
  }

  static func hex(_ byte: UInt8) -> String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    return "=" + String(digits[Int(byte >> 4)]) + String(digits[Int(byte & 15)])
  }

  /// A blank at the end of a line would be lost on the way.
  private static func closed(_ line: String) -> String { line.hasSuffix(" ") ? line.dropLast() + "=20" : line }
}
