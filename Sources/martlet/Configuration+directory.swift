import Addresses
import CallServer
import HomeserverAPI
import ServerDirectory
import ServerRooms
import Telemetry

extension Configuration {
  /// How rooms and people are found.
  struct Directory: Sendable {
    var publishing = RoomConfiguration.Publishing.members
    var users = UserDirectory.Scope.everyone
  }

  /// For how long messages are kept, in hours; 0 is for ever.
  struct Retention: Sendable {
    var defaultHours = 0
    var shortestHours = 24
    var longestHours = 0

    var rules: RetentionRules {
      var rules = RetentionRules()
      if defaultHours > 0 { rules.defaultLifetime = Self.milliseconds(defaultHours) }
      rules.shortestLifetime = Self.milliseconds(shortestHours)
      if longestHours > 0 { rules.longestLifetime = Self.milliseconds(longestHours) }
      return rules
    }

    private static func milliseconds(_ hours: Int) -> Int64 { Int64(hours) * 60 * 60 * 1_000 }
  }

  /// Events that are sent later.
  struct DelayedEvents: Sendable {
    var longestHours = 366 * 24
    var scheduledCount = 100

    var limits: DelayedEventLimits {
      var limits = DelayedEventLimits()
      limits.delayMilliseconds = Int64(longestHours) * 60 * 60 * 1_000
      limits.scheduledCount = scheduledCount
      return limits
    }
  }

  /// The TURN server for calls.
  struct TURN: Sendable {
    var uris: [String] = []
    var secret: Redacted<String>?
    var lifetimeSeconds = 24 * 60 * 60
    var isOpenToGuests = false
    /// Where our own listens; nil for none.
    var bind: BindAddress?
    var ports: ClosedRange<UInt16> = 49_160...49_359
    var allowedNetworks: [IPNetwork] = []
    var tls = TLS()

    /// Where our own listens by TLS.
    struct TLS: Sendable {
      /// nil for nowhere.
      var bind: BindAddress?
      /// Files.
      var certificate: String?
      var key: String?
      /// nil: the name of the server.
      var host: String?
    }

    /// Somebody else's; nil where none is configured.
    var server: TURNServer? {
      guard !uris.isEmpty, let secret else { return nil }
      return server(uris: uris, secret: secret.reveal())
    }

    func server(uris: [String], secret: String) -> TURNServer {
      TURNServer(uris: uris, secret: secret, lifetimeSeconds: Int64(lifetimeSeconds), isOpenToGuests: isOpenToGuests)
    }
  }

  /// The call server.
  struct Calls: Sendable {
    var isEnabled = true
    /// nil: the first of `bind`, by UDP.
    var bind: BindAddress?
    /// nil: one for each processor but one.
    var workers: Int?
    var homeTransports = CallLimits.homeTransports
    /// By TCP too, on the same port.
    var takesTCP = true
    /// Empty: the machine's own.
    var publicAddresses: [IPAddress] = []
    /// 0: no limit.
    var recordingsQuotaBytes = 10 << 30
  }

  /// What these settings contradict in each other; nil if all is well.
  var directoryContradiction: String? {
    if !turn.uris.isEmpty, turn.secret == nil { return "turn.uris is set, but turn.secret is not" }
    if let secureRelayContradiction { return secureRelayContradiction }
    if retention.longestHours > 0, retention.longestHours < max(retention.shortestHours, retention.defaultHours) {
      return "retention.longest_hours is less than retention.shortest_hours or retention.default_hours"
    }
    return nil
  }
}
