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

  init(_ capabilities: JSON) {
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

/// What the server of this session announces, as far as it was asked.
struct KnownExtensions: Sendable {
  /// nil until the server has said.
  var offered: ServerExtensions?
  /// Commands that want to know, while the server is being asked.
  var waiting: [(command: Command, id: CommandID)] = []
}

extension Client {
  /// What the server announces; nil until something wanted to know.
  public var offeredExtensions: ServerExtensions? { extensions.offered }

  /// Carries the command out once it is known what the server offers.
  mutating func learnExtensions(for command: Command, _ id: CommandID) {
    extensions.waiting.append((command, id))
    guard extensions.waiting.count == 1 else { return }
    request(.getCapabilities, Endpoint.getCapabilities.path(), for: .capabilities)
  }

  mutating func capabilitiesAnswered(_ answer: Answer) {
    let waiting = extensions.waiting
    extensions.waiting = []
    switch answer {
    case .success(let json): extensions.offered = json["capabilities"].map { ServerExtensions($0) } ?? []
    case .refused where !answer.isTransient: extensions.offered = []
    default:
      for (_, id) in waiting { finish(id, .failed(answer.error ?? .badAnswer)) }
      return
    }
    for (command, id) in waiting { handle(command, id) }
  }

  /// Whoever asked does not wait any more. False where nobody of that number waited.
  mutating func stopLearning(for id: CommandID) -> Bool {
    guard let i = extensions.waiting.firstIndex(where: { $0.id == id }) else { return false }
    extensions.waiting.remove(at: i)
    finish(id, .failed(.cancelled))
    return true
  }

  mutating func endLearning() {
    let waiting = extensions.waiting
    extensions = KnownExtensions()
    for (_, id) in waiting { finish(id, .failed(.notSignedIn)) }
  }
}
