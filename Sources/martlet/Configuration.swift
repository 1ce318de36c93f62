import Addresses
import HTTPServer
import Homeserver
import HomeserverAPI
import MatrixModel
import Outbound
import ServerAccounts
import ServerDirectory
import ServerMedia
import ServerPush
import Telemetry

/// All settings of an operator, with their defaults. `Setting.all` has their names and allowed values.
struct Configuration: Sendable {
  /// Who can create an account.
  enum Registration: String, Sendable, CaseIterable { case open, token, closed }

  /// The cost of hashing a password with Argon2id.
  struct PasswordHash: Sendable, Equatable {
    /// OWASP's "Password Storage Cheat Sheet" recommends at least 19 MiB with two iterations.
    var memoryMiB = 19
    var iterations = 2
  }

  /// Files that users upload, and previews of pages.
  struct Media: Sendable, Equatable {
    var userQuotaBytes = 10 << 30
    var allowsUnauthenticatedDownloads = false
    var previewsPages = true
    var deniedPreviewURLs: [String] = []
  }

  /// Login with a JSON Web Token that an app signed.
  struct JWT: Sendable {
    /// nil if there is no such login.
    var algorithm: JSONWebKey.Algorithm?
    var secret: Redacted<String>?
    var publicKeyFile: String?
    var issuer: String?
    var audiences: [String] = []
    var subjectClaim = "sub"
    var displayNameClaim = "name"
    var pictureClaim = "picture"
  }

  var serverName = "localhost"
  var bind = [BindAddress(host: "127.0.0.1", port: 8008)]
  var dataDirectory = "./data"
  var database = Database()
  var cluster = Cluster()
  /// The value that the operator set; nil if there is none.
  var drainSeconds: Int?
  var bus = Bus()
  /// The value that the operator set; nil if there is none.
  var registrationSetting: Registration?
  var registrationOpenToEveryone = false
  var registrationSharedSecret: Redacted<String>?
  var registrationTokens: [Redacted<String>] = []
  var inviteLinks = InviteLinkRules()
  var allowsGuests = false
  /// nil if tokens do not expire.
  var accessTokenLifetimeMinutes: Int?
  var issuesLoginTokens = false
  var jwt = JWT()
  /// If empty, all fields except the disallowed ones.
  var profileFieldsAllowed: [String] = []
  var profileFieldsDisallowed: [String] = []
  var rateLimits = true
  var isPresenceEnabled = true
  var passwordHash = PasswordHash()
  var uploadBytesLimit = 100 << 20
  var media = Media()
  var bucket = MediaBucket()
  var gifs = Gifs()
  var logLevel = Log.Level.info
  var logFormat = LogSink.Format.text
  var metricsBind: [BindAddress] = []
  var defaultRoomVersion = "12"
  var forgetsRoomsOnLeave = false
  var newRoomEncryption = NewRoomEncryption.inviteOnly
  var policyRooms: [RoomID] = []
  /// nil means the folder that `WebFolder.find` returns.
  var webDirectory: String?
  var embedOrigins: [WebOrigin] = []
  /// Has no slash at the end. If nil, clients keep the address by which they connected.
  var publicBaseURL: String?
  var trustedProxies: [IPNetwork] = []
  var outbound = OutboundConfiguration()
  var trustedClients: [WebOrigin] = []
  var mail = Mail()
  var registrationNeedsEmail = false
  var tellsKnownAddresses = false
  /// The providers of single sign-on, in the order of the file.
  var singleSignOn: [SingleSignOnProvider] = []
  var directory = Directory()
  var retention = Retention()
  var notices = ServerNoticeConfiguration()
  /// 0 means for ever.
  var auditKeepDays = 365
  var delayedEvents = DelayedEvents()
  var turn = TURN()
  var calls = Calls()
  var push = Push()
  /// The paths of registration files.
  var appServices: [String] = []
  var support = SupportContacts()
  /// If nil, other servers reach this one by its name.
  var delegatedServer: String?

  /// Who can create an account. The default is anyone if only this machine can reach the server, and nobody otherwise.
  var registration: Registration { registrationSetting ?? (isBehindProxy || !isLoopbackOnly ? .closed : .open) }

  /// Whether the settings indicate a reverse proxy, through which other machines can reach even a loopback address.
  var isBehindProxy: Bool { publicBaseURL != nil || !trustedProxies.isEmpty }

  /// Whether all addresses of the Client-Server API are loopback addresses.
  var isLoopbackOnly: Bool { bind.allSatisfy(\.isLoopback) }

  /// The address on which the call server accepts media.
  var callBind: BindAddress { calls.bind ?? bind[0] }

  /// Describes a contradiction between settings that are each allowed; nil if there is none.
  var contradiction: String? {
    if registration == .open, !isLoopbackOnly, !registrationOpenToEveryone {
      let outside = bind.filter { !$0.isLoopback }.map(\.description).joined(separator: ", ")
      return """
        registration is open and bind has \(outside), which other machines can reach: anyone could create accounts. Set \
        registration to token or closed. If you want this, set registration_open_to_everyone to true
        """
    }
    if !profileFieldsAllowed.isEmpty, !profileFieldsDisallowed.isEmpty {
      return "profile_fields.allowed and profile_fields.disallowed cannot both be set"
    }
    if let both = metricsBind.first(where: { $0.port != 0 && bind.contains($0) }) {
      return "metrics_bind and bind both have \(both)"
    }
    if let contradiction = database.contradiction { return contradiction }
    if let clusterContradiction { return clusterContradiction }
    if bus.url != nil, cluster.bind == nil { return "bus.url is set, but cluster.bind is not: NATS is for several nodes" }
    if let mediaContradiction { return mediaContradiction }
    if let contradiction = bucket.contradiction { return contradiction }
    if let outboundContradiction { return outboundContradiction }
    if let callContradiction { return callContradiction }
    return directoryContradiction
  }
}
