import Database
import JSON
import MatrixModel

/// Finds users by name. Everyone with an account here is found: the spec wants at least those who share a room or are in a
/// public one, and leaves the rest to the server. On one's own server, people want to find each other.
///
/// Spec: `POST /_matrix/client/v3/user_directory/search`.
package final class UserDirectory: Sendable {
  package struct Entry: Sendable {
    package let userID: UserID
    package let profile: Profile
  }

  /// Results of one search.
  package static let resultsLimit = 50
  package static let resultsDefault = 10
  /// Bytes of a search term; longer ones find nobody.
  private static let termBytesLimit = 512

  private let database: Database

  init(database: Database) {
    self.database = database
  }

  /// Users whose localpart or display name has `term` in it, without regard to case, by user ID; at most `limit`.
  package func search(_ term: ByteString, limit: Int) async throws -> (results: [Entry], isLimited: Bool) {
    guard !term.isEmpty, term.count <= Self.termBytesLimit else { return ([], false) }
    let limit = min(max(1, limit), Self.resultsLimit)
    let pattern = "%" + Self.escaped(term.string.lowercased()) + "%"
    let found = try await database.read { tx in
      let users = try tx.all(
        """
        SELECT user_id FROM account WHERE search_text LIKE $1 ESCAPE '!' AND deactivated = 0
        ORDER BY user_id LIMIT $2
        """, pattern, limit + 1
      ) { row in row.identifier(0, as: UserID.self) }
      return try users.map { Entry(userID: $0, profile: try Profiles.profile(tx, of: $0)) }
    }
    return (Array(found.prefix(limit)), found.count > limit)
  }

  static func escaped(_ term: String) -> String {
    var escaped = ""
    for scalar in term.unicodeScalars {
      if scalar == "%" || scalar == "_" || scalar == "!" { escaped.unicodeScalars.append("!") }
      escaped.unicodeScalars.append(scalar)
    }
    return escaped
  }
}
