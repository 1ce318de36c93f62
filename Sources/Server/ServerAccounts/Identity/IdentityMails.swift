import MatrixModel
import Outbound

/// What people are written. Friendly, short, and never more than the reader of the address may know.
struct IdentityMails {
  let server: ServerName
  /// Leads to the page that confirms.
  let link: String

  /// - Parameter isExpected: false where the address is in use for a new one, or unknown for a forgotten password: then there is
  ///   nothing to confirm, and the reader is told why.
  func mail(to address: MailAddress, for purpose: EmailValidations.Purpose, _ isExpected: Bool) -> MailMessage {
    switch (purpose, isExpected) {
    case (.registration, true):
      message(
        address, "Confirm your e-mail address",
        "Someone, probably you, is making an account on \(server) with this e-mail address.", "Confirm the address")
    case (.addition, true):
      message(
        address, "Confirm your e-mail address",
        "Someone, probably you, wants to add this e-mail address to an account on \(server).", "Confirm the address")
    case (.passwordReset, true):
      message(
        address, "Choose a new password",
        "Someone, probably you, asked for a new password for the account on \(server) that has this e-mail address.",
        "Allow the new password")
    case (.registration, false), (.addition, false):
      message(
        address, "Your e-mail address is in use already",
        "Someone, probably you, wanted to use this e-mail address on \(server), but it belongs to an account there already. If you have forgotten your password, ask for a new one in your app.",
        nil)
    case (.passwordReset, false):
      message(
        address, "There is no account with this e-mail address",
        "Someone, probably you, asked for a new password on \(server), but no account there has this e-mail address. You may have used another one.",
        nil)
    }
  }

  private func message(_ address: MailAddress, _ subject: String, _ reason: String, _ action: String?) -> MailMessage {
    let ending = "If that was not you, you can ignore this mail."
    guard let action else {
      return MailMessage(
        to: address, subject: subject, text: "Hello,\n\n\(reason)\n\n\(ending)\n",
        html: "<p>Hello,</p><p>\(MailHTML.escaped(reason))</p><p>\(ending)</p>")
    }
    let text = "Hello,\n\n\(reason)\n\n\(action) here, within an hour:\n\n\(link)\n\n\(ending)\n"
    let html =
      "<p>Hello,</p><p>\(MailHTML.escaped(reason))</p><p><a href=\"\(MailHTML.escaped(link))\">\(action)</a> (within an hour)</p>"
      + "<p>\(ending)</p>"
    return MailMessage(to: address, subject: subject, text: text, html: html)
  }
}

/// Text in mails of HTML.
package enum MailHTML {
  /// For between tags and for an attribute in double quotes.
  package static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
      "\"", with: "&quot;")
  }
}
