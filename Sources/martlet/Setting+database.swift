import Database
import Telemetry

extension Setting {
  /// Where the rows are.
  static let database: [Setting] = [
    .one(
      "database.url", \.database.url,
      "The PostgreSQL database that has everything but files: media and keys stay in data_dir. It must exist, with the encoding UTF8 and the "
        + "collation C, and belong to one homeserver only. PostgreSQL 15 or newer. Put the password into database.password_file rather than here.",
      allowed: "a URL such as postgres://martlet@db.example.org/martlet or postgres:///martlet?host=/run/postgresql",
      defaultText: "none (SQLite: the file martlet.db in data_dir)", isSecret: true,
      parse: { PostgreSQLAddress($0) == nil ? nil : .some(Redacted($0)) }, show: { $0?.reveal() }),
    .one(
      "database.password", \.database.password, "The password of the user in database.url.", allowed: "1 to 1024 bytes",
      isSecret: true,
      parse: { (1...1_024).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .one(
      "database.password_file", \.database.passwordFile, "A file whose first line is that password.",
      allowed: "the path of a file",
      parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 })
  ]
}

extension Configuration {
  struct Database: Sendable {
    var url: Redacted<String>?
    var password: Redacted<String>?
    var passwordFile: String?

    /// nil for SQLite. Throws `failed` if the password's file cannot be read.
    func configuration() throws(StartError) -> DatabaseConfiguration? {
      guard let url else { return nil }
      let password = if let password { password.reveal() } else { try passwordFromFile() }
      guard let address = PostgreSQLAddress(url.reveal(), password: password) else {
        throw .failed("database.url is no URL of a PostgreSQL database")
      }
      return DatabaseConfiguration(server: address)
    }

    private func passwordFromFile() throws(StartError) -> String? {
      guard let passwordFile else { return nil }
      return try SecretLine.read(passwordFile, setting: "database.password_file")
    }

    /// Describes a contradiction between these settings; nil if there is none.
    var contradiction: String? {
      if url == nil, password != nil || passwordFile != nil { return "database.password is set, but database.url is not" }
      if password != nil, passwordFile != nil { return "database.password and database.password_file cannot both be set" }
      return nil
    }
  }
}
