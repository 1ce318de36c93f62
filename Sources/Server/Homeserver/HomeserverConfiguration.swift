import Database
import JSON
import MatrixModel

/// What an operator decides. The program fills it from file, environment and flags; the defaults here are the documented ones.
package struct HomeserverConfiguration: Sendable {
  package enum Registration: Sendable { case open, token, closed }

  package var serverName: ServerName
  /// Holds the database, the signing key and the media. Exists and is writable.
  package var dataDirectory: String
  package var registration = Registration.closed
  package var registrationTokens: [String] = []
  package var registrationSharedSecret: String?
  package var defaultRoomVersion: ByteString = "12"
  /// Argon2id: memory in bytes and passes.
  package var passwordHashMemoryBytes = 19 << 20
  package var passwordHashIterations = 2
  package var uploadBytesLimit: Int64 = 100 << 20
  /// The thumbnail program; nil where there is none.
  package var thumbnailProgram: String?
  /// Whether users see who is online.
  package var isPresenceEnabled = true
  package var database: DatabaseConfiguration
  package var clock = WallClock.system

  package init(serverName: ServerName, dataDirectory: String) {
    self.serverName = serverName
    self.dataDirectory = dataDirectory
    database = DatabaseConfiguration(path: dataDirectory + "/martlet.db")
  }
}
