import Database
import JSON
import MatrixModel
import Outbound

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
  /// The operator's own push gateways: beginnings of URLs, which may be http and lead into private networks.
  package var pushGateways: [String] = []
  /// How long reading on may go before gateways are told the new number of unread messages.
  package var pushBadgeDelay = Duration.milliseconds(1_500)
  /// How far back `GET /notifications` goes, in days.
  package var notificationDays = 30
  package var appServices: [AppServiceRegistration] = []
  package var outbound = OutboundConfiguration()
  package var database: DatabaseConfiguration
  package var clock = WallClock.system

  package init(serverName: ServerName, dataDirectory: String) {
    self.serverName = serverName
    self.dataDirectory = dataDirectory
    database = DatabaseConfiguration(path: dataDirectory + "/martlet.db")
  }
}
