import Addresses
import Database
import JSON
import MatrixModel
import Outbound
import ServerAccounts
import ServerCore
import ServerDirectory
import ServerMedia
import ServerPush
import ServerRooms

/// What an operator decides. The program fills it from file, environment and flags; the defaults here are the documented ones.
package struct HomeserverConfiguration: Sendable {
  package var serverName: ServerName
  /// Holds the database, the signing key and the media. Exists and is writable.
  package var dataDirectory: String
  package var registration = AccountConfiguration.Registration.closed
  package var registrationTokens: [String] = []
  package var registrationSharedSecret: String?
  package var inviteLinks = InviteLinkRules()
  package var allowsGuests = false
  /// Milliseconds until the tokens of clients that can refresh them expire; nil never.
  package var accessTokenLifetimeMilliseconds: Int64?
  /// Whether who is logged in may get a token that logs in another client.
  package var issuesLoginTokens = false
  /// nil where no app vouches for users.
  package var jsonWebTokens: JSONWebTokenLogin?
  package var profileFields = Profiles.Policy()
  package var defaultRoomVersion: ByteString = "12"
  /// Whether leaving a room forgets it too. Spec: `m.forget_forced_upon_leave` capability.
  package var forgetsRoomsOnLeave = false
  /// Policy rooms of this server whose `m.ban` rules hold for everyone's invitations and joins.
  package var policyRooms: [RoomID] = []
  /// Argon2id: memory in bytes and passes.
  package var passwordHashMemoryBytes = 19 << 20
  package var passwordHashIterations = 2
  package var uploadBytesLimit: Int64 = 100 << 20
  package var media = MediaConfiguration()
  /// nil where there are no GIFs to look for.
  package var gifs: GifConfiguration?
  package var outbound = OutboundConfiguration()
  /// The path of the thumbnail program; nil if it is not installed.
  package var thumbnailProgram: String?
  /// Whether users see who is online.
  package var isPresenceEnabled = true
  /// The operator's own push gateways and push services: beginnings of URLs, which may be http and lead into private networks.
  package var pushGateways: [String] = []
  /// Whether there are pushers of kind `webpush`.
  package var sendsWebPush = true
  /// The contact for operators of push services: a `mailto:` or `https:` URL. nil for the server's own address.
  package var pushContact: String?
  /// How long reading on may go before gateways are told the new number of unread messages.
  package var pushBadgeDelay = Duration.milliseconds(1_500)
  package var notificationMails = NotificationMails()
  /// How far back `GET /notifications` goes, in days.
  package var notificationDays = 30
  package var appServices: [AppServiceRegistration] = []
  package var publishing = RoomConfiguration.Publishing.members
  package var userDirectoryScope = UserDirectory.Scope.everyone
  package var retention = RetentionRules()
  package var notices = ServerNoticeConfiguration()
  /// How long the audit log keeps what administrators did; nil for ever.
  package var auditLifetimeMilliseconds: Int64?
  package var delayedEvents = DelayedEventLimits()
  /// nil where there is no TURN server.
  package var turn: TURNServer?
  /// Whether rooms have calls through our own call server.
  package var servesCalls = false
  package var database: DatabaseConfiguration
  package var identity = IdentityConfiguration()
  package var clock = WallClock.system

  package init(serverName: ServerName, dataDirectory: String) {
    self.serverName = serverName
    self.dataDirectory = dataDirectory
    database = DatabaseConfiguration(path: dataDirectory + "/martlet.db")
  }
}

// What each chapter needs of it.
extension HomeserverConfiguration {
  /// The user in whose name the server speaks.
  package var noticesUser: UserID {
    UserID(localpart: notices.localpart, server: serverName) ?? UserID(trusted: ByteString("@server-notices:\(serverName)"))
  }

  var accounts: AccountConfiguration {
    var accounts = AccountConfiguration(serverName: serverName, noticesUser: noticesUser)
    accounts.registration = registration
    accounts.registrationTokens = registrationTokens
    accounts.registrationSharedSecret = registrationSharedSecret
    accounts.inviteLinks = inviteLinks
    accounts.allowsGuests = allowsGuests
    accounts.jsonWebTokens = jsonWebTokens
    accounts.profileFields = profileFields
    accounts.passwordHashMemoryBytes = passwordHashMemoryBytes
    accounts.passwordHashIterations = passwordHashIterations
    accounts.identity = identity
    accounts.clock = clock
    return accounts
  }

  package var rooms: RoomConfiguration {
    var rooms = RoomConfiguration(serverName: serverName, noticesUser: noticesUser)
    rooms.isPresenceEnabled = isPresenceEnabled
    rooms.forgetsRoomsOnLeave = forgetsRoomsOnLeave
    rooms.policyRooms = policyRooms
    rooms.publishing = publishing
    rooms.retention = retention
    rooms.clock = clock
    return rooms
  }

  var mediaStore: MediaStore {
    MediaStore(
      serverName: serverName, dataDirectory: dataDirectory, hasBucket: media.bucket != nil, uploadBytesLimit: uploadBytesLimit,
      thumbnailProgram: thumbnailProgram)
  }

  var pushGatewayAddresses: PushGatewayAddresses {
    PushGatewayAddresses(
      own: pushGateways, policy: AddressPolicy(allowed: outbound.allowedNetworks, denied: outbound.deniedNetworks))
  }

  /// The URL by which push services know the server's operator.
  var pushSubject: String {
    let own = identity.publicBaseURL.flatMap { WebOrigin(of: $0)?.description }
    return pushContact ?? own ?? "https://\(serverName.text.string)"
  }
}
