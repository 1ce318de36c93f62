import Homeserver
import JSON
import MatrixModel

extension Setting {
  /// What administrators say and do.
  static let administration: [Setting] = [
    .one(
      "server_notices.localpart", \.notices.localpart,
      "The name, before the colon, of the user in whose name the server speaks to its users; nobody may have it already.",
      allowed: "1 to 64 of a-z 0-9 . _ = - / +",
      parse: { text in
        let name = ByteString(text)
        return name.count <= 64 && UserID.isAllowedLocalpart(name) ? name : nil
      }, show: { $0.string }),
    .one(
      "server_notices.display_name", \.notices.displayName,
      "What that user and the room of the server's notices are called, from when each is made.",
      allowed: "1 to 256 bytes", parse: { (1...256).contains($0.utf8.count) ? ByteString($0) : nil }, show: { $0.string }),
    .integer(
      "audit.keep_days", \.auditKeepDays,
      "How many days the audit log keeps what administrators did; 0 is for ever.", 0...36_500)
  ]
}
