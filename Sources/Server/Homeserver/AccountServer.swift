import Database
import MatrixModel

/// Which server the accounts of a database belong to. From the first account on, a server keeps its name.
package enum AccountServer {
  /// Returns the name of the server; nil if there are no accounts.
  ///
  /// Opens the database for this, and brings its schema up to date. Throws `DatabaseError`.
  package static func name(in configuration: DatabaseConfiguration, tables: [String]) async throws -> ServerName? {
    let database = try Database(configuration, migrations: Schema.migrations(with: tables))
    defer { database.close() }
    return try await database.read { try name($0) }
  }

  fileprivate static func name(_ tx: ReadTransaction) throws -> ServerName? {
    try tx.first("SELECT user_id FROM account LIMIT 1") { $0.identifier(0, as: UserID.self).serverName }
  }

  /// There are accounts, and none is of the server `configured`.
  package struct Mismatch: Error, CustomStringConvertible {
    package let accounts: ServerName
    package let configured: ServerName

    package init(accounts: ServerName, configured: ServerName) {
      self.accounts = accounts
      self.configured = configured
    }

    package var description: String {
      "the accounts in data_dir are of \(accounts), but server_name is \(configured); a server cannot change its name"
    }
  }
}

extension Homeserver {
  /// Throws `AccountServer.Mismatch` if the database is that of a server with another name.
  package func checkServerName() async throws {
    let name = configuration.serverName
    try await database.read { tx in
      let hasOwn = try tx.first(
        "SELECT 1 FROM account WHERE user_id LIKE '%:' || $1 LIMIT 1", name.text
      ) { _ in true }
      guard hasOwn == nil, let other = try AccountServer.name(tx) else { return }
      throw AccountServer.Mismatch(accounts: other, configured: name)
    }
  }
}
