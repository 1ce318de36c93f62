import Database
import JSON
import MatrixModel
import Outbound

/// The way out of mails for who has one of them and need not be signed in.
extension Pushers {
  /// The path of the page that a mail's link leads to, and of what a mail program calls by itself (RFC 8058).
  package static let unsubscribePath = "/_matrix/client/unstable/martlet.push/unsubscribe"

  /// Where the mails go that have a token in their links; nil where there are none any more.
  package func subscription(_ token: ByteString) async throws -> MailAddress? {
    try await database.read { tx in try Self.pusher(with: token, tx)?.mailAddress }
  }

  /// Removes the pusher. Returns false if it no longer exists.
  package func unsubscribe(_ token: ByteString) async throws -> Bool {
    try await database.write { [self] tx in
      guard let id = try Self.pusher(with: token, tx) else { return false }
      try remove(tx, id)
      return true
    }
  }

  private static func pusher(with token: ByteString, _ tx: ReadTransaction) throws -> Pusher.ID? {
    try tx.first("SELECT user_id, pushkey FROM pusher WHERE unsubscribe = $1", token) { row in
      Pusher.ID(userID: row.identifier(0), appID: Pusher.mailAppID, pushkey: ByteString(row.text(1)))
    }
  }
}
