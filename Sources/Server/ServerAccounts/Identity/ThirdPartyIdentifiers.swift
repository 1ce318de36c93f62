import Database
import MatrixModel
import Outbound

/// The e-mail addresses of accounts: each belongs to at most one.
///
/// Spec: Client-Server API, "Account management", "Adding Account Administrative Contact Information".
package final class ThirdPartyIdentifiers: Sendable {
  package struct Identifier: Sendable, Equatable {
    package let medium: String
    package let address: String
    /// Milliseconds since 1970.
    package let validated: Int64
    package let added: Int64
  }

  /// Addresses of one account.
  package static let countLimit = 20

  private let database: Database
  private let observers: [any AccountObserver]

  package init(database: Database, observers: [any AccountObserver]) {
    self.database = database
    self.observers = observers
  }

  /// The user's identifiers, the first added first.
  package func all(of userID: UserID) async throws -> [Identifier] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT medium, address, validated, added FROM third_party_identifier WHERE user_id = $1
        ORDER BY added, medium, address
        """, userID
      ) { row in
        Identifier(medium: row.text(0), address: row.text(1), validated: row.integer(2), added: row.integer(3))
      }
    }
  }

  /// Takes an identifier from the user; one that the user does not have is no error.
  package func delete(_ medium: String, _ address: String, of userID: UserID) async throws {
    let mailAddress = MailAddress(address)
    let address = mailAddress?.description ?? address
    try await database.write { [observers] tx in
      try tx.execute(
        "DELETE FROM third_party_identifier WHERE medium = $1 AND address = $2 AND user_id = $3", medium, address, userID)
      guard medium == "email", let mailAddress else { return }
      for observer in observers { try observer.removed(mailAddress, of: userID, in: tx) }
    }
  }

  /// Whose identifier it is, in any form of it; nil for nobody's.
  package func owner(_ medium: String, _ address: String) async throws -> UserID? {
    guard medium == "email", let address = MailAddress(address) else { return nil }
    return try await database.read { tx in try Self.owner(tx, address) }
  }

  // MARK: Inside a transaction

  package static func owner(_ tx: ReadTransaction, _ address: MailAddress) throws -> UserID? {
    try tx.first(
      "SELECT user_id FROM third_party_identifier WHERE medium = 'email' AND address = $1", address.description
    ) { row in row.identifier(0) }
  }

  /// Adds an address that was shown to be the user's. Throws `M_THREEPID_IN_USE` for another's, and `M_THREEPID_DENIED`
  /// where the user has `countLimit` already.
  static func add(
    _ tx: WriteTransaction, _ address: MailAddress, of userID: UserID, validated: Int64, now: Int64
  ) throws {
    if let owner = try owner(tx, address) {
      guard owner == userID else { throw MatrixError.emailInUse }
      return
    }
    let count = try tx.first("SELECT COUNT(*) FROM third_party_identifier WHERE user_id = $1", userID) { $0.integer(0) }
    guard (count ?? 0) < countLimit else {
      throw MatrixError(
        status: 403, "M_THREEPID_DENIED", "An account has at most \(countLimit) e-mail addresses; remove one first.")
    }
    try tx.execute(
      "INSERT INTO third_party_identifier(medium, address, user_id, validated, added) VALUES('email', $1, $2, $3, $4)",
      address.description, userID, validated, now)
  }

  /// What goes with the account.
  static func deleteAll(_ tx: WriteTransaction, of userID: UserID) throws {
    try tx.execute("DELETE FROM third_party_identifier WHERE user_id = $1", userID)
  }
}

extension MatrixError {
  static let emailInUse = MatrixError(
    status: 400, "M_THREEPID_IN_USE", "This e-mail address belongs to another account here.")
}
