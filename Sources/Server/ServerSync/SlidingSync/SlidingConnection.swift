import JSON
import MatrixModel
import ServerCore
import Synchronization

/// What one connection has been told of one room.
struct SentRoom: Sendable {
  /// Everything up to here.
  var position: Int64
  var membership: Membership
  var config: SlidingRequest.RoomConfig
  var isDirect: Bool
  var unread: UnreadCounts.Count
  /// Lazily loaded members: which event of theirs.
  var members: [UserID: Int64] = [:]

  /// Members remembered per room; beyond it they are told again.
  static let membersLimit = 256
}

/// One sync loop of one device: what it has been told. In memory only.
///
/// An answer does not count as received until the client comes back with its `pos`: until then what it told is kept aside, so
/// that a request which is repeated, or made again with other parameters, is answered from the same point.
///
/// A process that starts anew, or has dropped the connection to make room, answers `M_UNKNOWN_POS`, and the client begins again
/// with its newest rooms. Nothing is lost by it: rooms are told afresh, messages to the device have a token of their own that
/// is on disk, and changes of device lists are told from that token on.
final class SlidingConnection: Sendable {
  /// What has been told up to one answer.
  struct Content: Sendable {
    /// nil before the first answer.
    var seen: SyncPosition?
    var rooms: [RoomNumber: SentRoom] = [:]
    /// How many rooms each list has.
    var counts: [ByteString: Int] = [:]
    /// Counts of keys, as told.
    var keyCounts: [UInt8] = []
    /// The rooms of the last request's lists and subscriptions.
    var window: [RoomNumber: Int] = [:]
    var hasAccountData = false
    var hasEndToEnd = false
  }

  /// What one answer adds.
  struct Changes: Sendable {
    var seen: SyncPosition
    var rooms: [RoomNumber: SentRoom] = [:]
    var counts: [ByteString: Int] = [:]
    var keyCounts: [UInt8]?
    var window: [RoomNumber: Int] = [:]
    var hasAccountData = false
    var hasEndToEnd = false
  }

  private struct State {
    /// The answer the client has; 0 for none.
    var acknowledged: Int64 = 0
    var content = Content()
    var pending: [(answer: Int64, changes: Changes)] = []
  }

  /// Answers that may wait to be acknowledged at once: requests that were repeated.
  private static let pendingLimit = 8

  /// Monotonic nanoseconds of the last request.
  let usedAt = Atomic<UInt64>(0)
  private let state = Mutex(State())

  var roomCount: Int { state.withLock { $0.content.rooms.count } }

  /// The client has the answer: what it told counts. false where that answer is not known.
  func acknowledge(_ answer: Int64) -> Bool {
    state.withLock { state in
      if state.acknowledged == answer { return true }
      guard let index = state.pending.firstIndex(where: { $0.answer == answer }) else { return false }
      let changes = state.pending[index].changes
      state.pending = []
      state.acknowledged = answer
      state.content.take(changes)
      return true
    }
  }

  /// What the client had been told with `answer`, 0 for a new connection; nil where it has gone on meanwhile.
  func content(of answer: Int64) -> Content? { state.withLock { $0.acknowledged == answer ? $0.content : nil } }

  func add(_ changes: Changes, as answer: Int64, after acknowledged: Int64) {
    state.withLock { state in
      guard state.acknowledged == acknowledged else { return }
      if state.pending.count >= Self.pendingLimit { state.pending.removeFirst() }
      state.pending.append((answer, changes))
    }
  }
}

extension SlidingConnection.Content {
  fileprivate mutating func take(_ changes: SlidingConnection.Changes) {
    seen = changes.seen
    for (room, sent) in changes.rooms { rooms[room] = sent }
    counts = changes.counts
    window = changes.window
    if let keyCounts = changes.keyCounts { self.keyCounts = keyCounts }
    hasAccountData = changes.hasAccountData
    hasEndToEnd = changes.hasEndToEnd
  }
}

/// Every connection there is. The ones that were not used for longest go when there are too many.
final class SlidingConnections: Sendable {
  private struct Key: Hashable {
    let device: DeviceID
    let connection: ByteString
  }

  private struct State {
    var users: [UserID: [Key: SlidingConnection]] = [:]
    var count = 0
    var sweptAt: UInt64 = 0
  }

  /// Connections of one user, and in all; and rooms remembered by all of them together, about 300 bytes each.
  static let userLimit = 32
  static let limit = 20_000
  static let roomsLimit = 500_000
  /// How often the rooms are counted.
  private static let sweepNanoseconds: UInt64 = 30_000_000_000

  private let state = Mutex(State())

  /// A new connection in place of the one of that name.
  func open(_ user: UserID, _ device: DeviceID, _ name: ByteString, now: UInt64) -> SlidingConnection {
    let connection = SlidingConnection()
    connection.usedAt.store(now, ordering: .relaxed)
    state.withLock { state in
      var own = state.users.removeValue(forKey: user) ?? [:]
      state.count -= own.count
      own[Key(device: device, connection: name)] = connection
      if own.count > Self.userLimit, let oldest = own.min(by: { $0.value.lastUse < $1.value.lastUse }) { own[oldest.key] = nil }
      state.count += own.count
      state.users[user] = own
      Self.sweep(&state, now)
    }
    return connection
  }

  func known(_ user: UserID, _ device: DeviceID, _ name: ByteString, now: UInt64) -> SlidingConnection? {
    let connection = state.withLock { $0.users[user]?[Key(device: device, connection: name)] }
    connection?.usedAt.store(now, ordering: .relaxed)
    return connection
  }

  private static func sweep(_ state: inout State, _ now: UInt64) {
    guard state.count > limit || now &- state.sweptAt > sweepNanoseconds else { return }
    state.sweptAt = now
    let all = state.users.flatMap { user, own in own.map { (user: user, key: $0.key, connection: $0.value) } }
      .sorted { $0.connection.lastUse > $1.connection.lastUse }
    var rooms = 0
    for (index, entry) in all.enumerated() {
      rooms += entry.connection.roomCount
      // The newest stays however many rooms it has.
      guard index > 0, index >= limit || rooms > roomsLimit else { continue }
      state.users[entry.user]?[entry.key] = nil
      if state.users[entry.user]?.isEmpty ?? false { state.users[entry.user] = nil }
      state.count -= 1
    }
  }
}

extension SlidingConnection {
  fileprivate var lastUse: UInt64 { usedAt.load(ordering: .relaxed) }
}
