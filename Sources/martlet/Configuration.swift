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

/// Everything an operator can set, with the default of each. `Setting.all` says how each is written and what is allowed.
struct Configuration: Sendable {
  /// Who may make an account.
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

  /// Logins that an app vouches for with a signed token.
  struct JWT: Sendable {
    /// nil: there are none.
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
  /// What the operator wrote; nil if nothing.
  var registrationSetting: Registration?
  var registrationOpenToEveryone = false
  var registrationSharedSecret: Redacted<String>?
  var registrationTokens: [Redacted<String>] = []
  var allowsGuests = false
  /// nil: tokens do not expire.
  var accessTokenLifetimeMinutes: Int?
  var issuesLoginTokens = false
  var jwt = JWT()
  /// nil: all but the disallowed.
  var profileFieldsAllowed: [String] = []
  var profileFieldsDisallowed: [String] = []
  var rateLimits = true
  var isPresenceEnabled = true
  var passwordHash = PasswordHash()
  var uploadBytesLimit = 100 << 20
  var media = Media()
  var gifs = Gifs()
  var logLevel = Log.Level.info
  var logFormat = LogSink.Format.text
  var metricsBind: [BindAddress] = []
  var defaultRoomVersion = "12"
  var forgetsRoomsOnLeave = false
  var policyRooms: [RoomID] = []
  /// nil: the folder that belongs to the program, see `webFolder`.
  var webDirectory: String?
  /// Without a slash at the end; nil: clients keep the address they came by.
  var publicBaseURL: String?
  var trustedProxies: [IPNetwork] = []
  var outbound = OutboundConfiguration()
  var trustedClients: [WebOrigin] = []
  var mail = Mail()
  var registrationNeedsEmail = false
  var tellsKnownAddresses = false
  /// In the order of the file.
  var singleSignOn: [SingleSignOnProvider] = []
  var directory = Directory()
  var retention = Retention()
  var notices = ServerNoticeConfiguration()
  /// 0: for ever.
  var auditKeepDays = 365
  var delayedEvents = DelayedEvents()
  var turn = TURN()
  var calls = Calls()
  var push = Push()
  /// Files.
  var appServices: [String] = []
  var support = SupportContacts()
  /// nil: other servers reach this one under its name.
  var delegatedServer: String?

  /// Who may make an account: by default anyone, as long as only this machine can ask.
  var registration: Registration { registrationSetting ?? (isBehindProxy || !isLoopbackOnly ? .closed : .open) }

  /// Whether the settings speak of a reverse proxy, through which other machines reach even a loopback address.
  private var isBehindProxy: Bool { publicBaseURL != nil || !trustedProxies.isEmpty }

  /// Whether nobody outside this machine can reach the Client-Server API.
  var isLoopbackOnly: Bool { bind.allSatisfy(\.isLoopback) }

  /// Where media of calls arrives.
  var callBind: BindAddress { calls.bind ?? bind[0] }

  /// What one setting alone does not show to be wrong; nil if all is well.
  var contradiction: String? {
    if registration == .open, !isLoopbackOnly, !registrationOpenToEveryone {
      let outside = bind.filter { !$0.isLoopback }.map(\.description).joined(separator: ", ")
      return """
        registration is open and bind has \(outside), which other machines can reach: anyone could make accounts. Set \
        registration to token or closed, or registration_open_to_everyone to true if that is what you want
        """
    }
    if !profileFieldsAllowed.isEmpty, !profileFieldsDisallowed.isEmpty {
      return "profile_fields.allowed and profile_fields.disallowed exclude each other"
    }
    if let both = metricsBind.first(where: { $0.port != 0 && bind.contains($0) }) {
      return "metrics_bind and bind both have \(both)"
    }
    if let mediaContradiction { return mediaContradiction }
    if let outboundContradiction { return outboundContradiction }
    if let callContradiction { return callContradiction }
    return directoryContradiction
  }
}
