import Homeserver
import JSON
import MatrixModel

extension Setting {
  /// Notices to users, and the audit log.
  static let administration: [Setting] = [
    .one(
      "server_notices.localpart", \.notices.localpart,
      "The localpart of the user that sends server notices: the part before the colon. No other account may have it.",
      allowed: "1 to 64 characters of a-z 0-9 . _ = - / +",
      parse: { text in
        let name = ByteString(text)
        return name.count <= 64 && UserID.isAllowedLocalpart(name) ? name : nil
      }, show: { $0.string }),
    .one(
      "server_notices.display_name", \.notices.displayName,
      "The name of that user, and of the rooms for server notices. A change applies only to a user and rooms that are created later.",
      allowed: "1 to 256 bytes", parse: { (1...256).contains($0.utf8.count) ? ByteString($0) : nil }, show: { $0.string }),
    .integer(
      "audit.keep_days", \.auditKeepDays,
      "How many days the audit log keeps the actions of administrators. 0 keeps them for ever.", 0...36_500)
  ]
}
