import JSON
import MatrixModel

/// What a homeserver announces in its capabilities beyond the specification, and what this client makes use of. Documentation/Extensions.md
/// describes them.
public struct ServerExtensions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The same two users always get the same room.
  public static let direct = ServerExtensions(rawValue: 1)
  public static let rejoin = ServerExtensions(rawValue: 2)
  /// Many invitations and many departures in one request.
  public static let bulk = ServerExtensions(rawValue: 4)
  /// Receipts for what has reached a device.
  public static let delivered = ServerExtensions(rawValue: 8)
  public static let readCounts = ServerExtensions(rawValue: 16)
  public static let readAll = ServerExtensions(rawValue: 32)
  public static let unread = ServerExtensions(rawValue: 64)
  public static let hide = ServerExtensions(rawValue: 128)
  public static let online = ServerExtensions(rawValue: 256)
  public static let paging = ServerExtensions(rawValue: 512)
  /// The time between two messages of a member.
  public static let slowMode = ServerExtensions(rawValue: 1024)
  /// Rules of rooms that keep invitations away.
  public static let policyLists = ServerExtensions(rawValue: 2048)
  /// How many messages a room has had since one joined it.
  public static let sinceJoined = ServerExtensions(rawValue: 4096)

  package init(_ capabilities: JSON) {
    self = []
    func add(_ name: StaticString, _ element: ServerExtensions) {
      if capabilities[name]?.bool("enabled") ?? false { insert(element) }
    }
    add("martlet.direct", .direct)
    add("martlet.rejoin", .rejoin)
    add("martlet.bulk", .bulk)
    add("martlet.delivered", .delivered)
    add("martlet.read_counts", .readCounts)
    add("martlet.read_all", .readAll)
    add("martlet.unread", .unread)
    add("martlet.hide", .hide)
    add("martlet.online", .online)
    add("martlet.paging", .paging)
    add("martlet.slow_mode", .slowMode)
    add("martlet.policy_lists", .policyLists)
    add("martlet.since_joined", .sinceJoined)
  }
}

extension Capabilities {
  /// Other servers have none of them.
  public var extensions: ServerExtensions { ServerExtensions(all) }
}
