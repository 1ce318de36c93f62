import Addresses
import CallServer
import HomeserverAPI
import ServerDirectory
import ServerRooms
import Telemetry

extension Configuration {
  /// Settings of the directories of rooms and users.
  struct Directory: Sendable {
    var publishing = RoomConfiguration.Publishing.members
    var users = UserDirectory.Scope.everyone
  }

  /// How long the server keeps messages, in hours. 0 means no limit.
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

  /// Limits of events that the server sends later.
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

  /// Settings of the TURN server for calls: `uris` name another server, `bind` starts Martlet's own.
  struct TURN: Sendable {
    var uris: [String] = []
    var secret: Redacted<String>?
    var lifetimeSeconds = 24 * 60 * 60
    var isOpenToGuests = false
    /// The address of Martlet's own TURN server; nil if it is off.
    var bind: BindAddress?
    var ports: ClosedRange<UInt16> = 49_160...49_359
    var allowedNetworks: [IPNetwork] = []
    var tls = TLS()

    /// Settings of Martlet's own TURN server by TLS.
    struct TLS: Sendable {
      /// nil if it does not use TLS.
      var bind: BindAddress?
      /// The path of a PEM file.
      var certificate: String?
      /// The path of a PEM file.
      var key: String?
      /// nil means the server's name.
      var host: String?
    }

    /// The other TURN server that `uris` name; nil if none is configured.
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
    /// nil means the first address of `Configuration.bind`, by UDP.
    var bind: BindAddress?
    /// nil means one for each processor except one.
    var workers: Int?
    var homeTransports = CallLimits.homeTransports
    /// Whether the call server accepts media by TCP too, on the same port.
    var takesTCP = true
    /// If empty, clients get the addresses of this machine.
    var publicAddresses: [IPAddress] = []
    /// 0 means no limit.
    var recordingsQuotaBytes = 10 << 30
  }

  /// Describes a contradiction between these settings; nil if there is none.
  var directoryContradiction: String? {
    if !turn.uris.isEmpty, turn.secret == nil { return "turn.uris is set, but turn.secret is not" }
    if let secureRelayContradiction { return secureRelayContradiction }
    if retention.longestHours > 0, retention.longestHours < max(retention.shortestHours, retention.defaultHours) {
      return "retention.longest_hours is less than retention.shortest_hours or retention.default_hours"
    }
    return nil
  }
}
