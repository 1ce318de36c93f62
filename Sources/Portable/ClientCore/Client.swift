import JSON
import MatrixModel

/// One account as a state machine: inputs in, effects out, no I/O, no clock, no randomness of its own.
///
///     var client = Client(randomSeed: seed, deviceDisplayName: "Martlet Web")
///     for effect in client.handle(.start, now: milliseconds) { host.carryOut(effect) }
///
/// The host carries the effects out in order and answers each as `Effect` says. A sync is prepared, written in one batch
/// together with its token, and shown only when the write is acknowledged; a local echo is shown at once and its request
/// goes out once the outbox record is written. Views read the properties and follow `Effect.change`.
public struct Client: Sendable {
  public internal(set) var sessionState = SessionState.loading
  public internal(set) var session: Session?
  public internal(set) var signIn = SignIn()
  public internal(set) var connection = ConnectionState.idle
  /// Invited rooms first, then the joined ones, the one with the latest message first; left rooms are not among them.
  public internal(set) var roomIDs: [RoomID] = []
  public internal(set) var ownDisplayName: ByteString?
  public internal(set) var ownAvatar: MediaURI?

  var rooms: [RoomID: Room] = [:]
  var effects: [Effect] = []

  /// - Parameter randomSeed: from the host's cryptographic source; transaction IDs and jitter grow from it.
  public init(randomSeed: UInt64, deviceDisplayName: ByteString) {
    _ = randomSeed
    _ = deviceDisplayName
  }

  /// The room, also a left one; nil where it is not known.
  public func room(_ id: RoomID) -> Room? { rooms[id] }

  /// Unread rooms' messages in sum, for the title of the window.
  public var notificationCount: Int { rooms.values.reduce(0) { $0 + $1.notificationCount } }

  /// How many joined members have not read the item, its sender not counted; nil where nobody can tell (gaps, own messages on
  /// their way). O(items behind it).
  public func unreadMemberCount(_ roomID: RoomID, itemAt index: Int) -> Int? { nil }

  /// Takes one input and returns what is to be done, in order.
  /// - Parameter now: milliseconds since 1970.
  public mutating func handle(_ input: Input, now: Int64) -> [Effect] {
    let done = effects
    effects = []
    return done
  }
}
