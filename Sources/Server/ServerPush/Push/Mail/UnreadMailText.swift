import JSON
import MatrixModel
import Outbound
import ServerAccounts

/// Puts an `UnreadMail` into words, as text and as HTML.
///
/// All that others chose (names, messages) is one line each, escaped in HTML; nothing is loaded from anywhere.
struct UnreadMailText {
  /// Where clients reach the server, and browsers its web client; without a slash at the end.
  let base: String
  let server: ServerName
  /// The page that ends these mails.
  let unsubscribe: String

  func message(_ mail: UnreadMail, to address: MailAddress, unique: String) -> MailMessage {
    var message = MailMessage(to: address, subject: subject(mail), text: text(mail), html: html(mail))
    message.unsubscribe = unsubscribe
    message.unique = unique
    return message
  }

  // MARK: Subject

  func subject(_ mail: UnreadMail) -> String {
    guard let first = mail.rooms.first else { return "New messages on \(server)" }
    if mail.rooms.count + mail.otherRooms == 1, first.isInvitation, let line = first.lines.last {
      return "\(line.sender) invites you to \(first.title)"
    }
    let messages = Self.messages(mail.count)
    let others = mail.rooms.count - 1 + mail.otherRooms
    if others == 1 { return "\(messages) in \(first.title) and another room" }
    if others > 1 { return "\(messages) in \(first.title) and \(others) other rooms" }
    if let sender = first.lines.last?.sender, sender == first.title { return "\(messages) from \(sender)" }
    return "\(messages) in \(first.title)"
  }

  private static func messages(_ count: Int64) -> String { count == 1 ? "A new message" : "\(count) new messages" }

  // MARK: Parts

  private func link(to room: RoomID) -> String { base + "/#room/" + Self.fragment(room.string) }

  /// What may stand in the fragment of a URL as it is; the rest percent-encoded. RFC 3986 §3.5.
  private static func fragment(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let text = String(scalar)
      return "!$&'()*+,;=:@/?".unicodeScalars.contains(scalar) ? text : PercentEncoding.encode(ByteString(text))
    }.joined()
  }

  private static func omission(_ room: UnreadMail.Room) -> String? {
    let omitted = room.count - Int64(room.lines.count)
    if omitted <= 0 { return nil }
    return room.lines.isEmpty ? messages(room.count) : "and \(omitted) before"
  }

  private static func more(_ mail: UnreadMail) -> String? {
    switch mail.otherRooms {
    case 0: nil
    case 1: "There is more to read in another room."
    default: "There is more to read in \(mail.otherRooms) other rooms."
    }
  }

  private func reason(_ mail: UnreadMail) -> String {
    "You get this because mails about unread messages are switched on for \(OneLine.text(mail.user.string, limit: 255))."
  }

  private static func line(_ line: UnreadMail.Line) -> String {
    switch line.preview {
    case .said(let words): "\(line.sender): \(words)"
    case .did(let deed): "\(line.sender) \(deed)"
    }
  }

  // MARK: Text

  private func text(_ mail: UnreadMail) -> String {
    var lines = ["Hello,", ""]
    for room in mail.rooms {
      lines += [room.title, ""]
      if let omission = Self.omission(room) { lines.append("  (\(omission))") }
      lines += room.lines.map { "  " + Self.line($0) }
      lines += ["", "  \(link(to: room.roomID))", ""]
    }
    if let more = Self.more(mail) { lines += [more, ""] }
    lines += [reason(mail), "No more of these mails: \(unsubscribe)"]
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: HTML

  private func html(_ mail: UnreadMail) -> String {
    var html = "<p>Hello,</p>"
    for room in mail.rooms {
      let link = MailHTML.escaped(link(to: room.roomID))
      html += "<h2 style=\"font-size:1.1em\"><a href=\"\(link)\">\(MailHTML.escaped(room.title))</a></h2>"
      if let omission = Self.omission(room) { html += "<p>(\(omission))</p>" }
      html += room.lines.map { "<p>\(Self.html($0))</p>" }.joined()
    }
    if let more = Self.more(mail) { html += "<p>\(more)</p>" }
    let stop = "<a href=\"\(MailHTML.escaped(unsubscribe))\">No more of these mails</a>"
    return html + "<p style=\"font-size:0.85em\">\(MailHTML.escaped(reason(mail))) \(stop)</p>"
  }

  private static func html(_ line: UnreadMail.Line) -> String {
    let sender = "<b>\(MailHTML.escaped(line.sender))</b>"
    return switch line.preview {
    case .said(let words): "\(sender): \(MailHTML.escaped(words))"
    case .did(let deed): "\(sender) \(MailHTML.escaped(deed))"
    }
  }
}
