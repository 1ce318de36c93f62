import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization

/// Pages over trees of spaces, and the summary of a single room. Spec: Client-Server API, "Spaces".
///
/// A page's token names a walk that waits in memory, so that a tree that changes meanwhile neither repeats rooms nor leaves
/// some out. It is good for ten minutes and for any number of requests.
package final class SpaceHierarchy: Sendable {
  package struct Query: Sendable {
    package var limit: Int?
    package var maxDepth: Int?
    package var suggestedOnly: Bool?
    package var from: ByteString?

    package init() {}
  }

  package struct Entry: Sendable {
    package let preview: RoomPreview
    /// `m.space.child` events in the order of the space.
    package let children: [StoredEvent]
  }

  package struct Page: Sendable {
    package let entries: [Entry]
    package let next: ByteString?
  }

  private struct Waiting: Sendable {
    let user: UserID
    let root: RoomID
    let walk: SpaceWalk
    let since: Int64
  }

  /// Rooms in an answer.
  package static let limitDefault = 50
  package static let limitMaximum = 100
  /// Levels of spaces inside each other.
  package static let depthMaximum = 64
  private static let tokenMilliseconds: Int64 = 10 * 60 * 1_000
  /// Walks that wait in all, and of one user; and what all of them hold together.
  private static let waitingLimit = 1_000
  static let userWaitingLimit = 10
  private static let waitingSizeLimit = 1_000_000
  /// Rooms that one request looks at, seen or not; an answer may have fewer than its limit.
  static let looksLimit = 1_000

  private let database: Database
  private let rooms: Rooms
  private let clock: WallClock
  private let names: NodeNames
  private let waiting = Mutex<[ByteString: Waiting]>([:])

  package init(database: Database, rooms: Rooms, clock: WallClock) {
    self.database = database
    self.rooms = rooms
    self.clock = clock
    names = NodeNames(database)
  }

  /// Spec: `GET /rooms/{roomId}/hierarchy`. Throws `M_FORBIDDEN` where the user may not see the room, `M_INVALID_PARAM`.
  package func page(of root: RoomID, _ query: Query, for user: UserID) async throws -> Page {
    let start = try start(of: root, query, for: user)
    let limit = min(query.limit ?? Self.limitDefault, Self.limitMaximum)
    let (entries, rest) = try await database.read { [rooms] transaction -> ([Entry], SpaceWalk?) in
      var walk = start
      var looks = Self.looksLimit
      var entries: [Entry] = []
      while entries.count < limit, let step = try walk.next(for: user, in: transaction, of: rooms, looks: &looks) {
        entries.append(Entry(preview: step.preview, children: step.children))
      }
      guard walk.isUnfinished else { return (entries, nil) }
      let rest = walk
      let hasMore = try walk.next(for: user, in: transaction, of: rooms, looks: &looks) != nil || walk.isUnfinished
      return (entries, hasMore ? rest : nil)
    }
    if query.from == nil, entries.first?.preview.room.roomID != root {
      throw MatrixError.forbidden("There is no such room, or you may not see it.")
    }
    return Page(
      entries: entries,
      next: rest.map { keep(Waiting(user: user, root: root, walk: $0, since: clock.now())) })
  }

  /// The summary of a room, and how the user stands to it; `user` is nil for who has no account.
  ///
  /// Spec: `GET /room_summary/{roomIdOrAlias}`. Throws `M_NOT_FOUND` also for a room that is not theirs to see.
  package func summary(of roomID: RoomID, for user: UserID?) async throws -> (preview: RoomPreview, membership: Membership?) {
    let found = try await database.read { [rooms] transaction -> (RoomPreview, Membership?)? in
      guard let room = try rooms.cache.snapshot(of: roomID, in: transaction) else { return nil }
      let preview = RoomPreview(of: room)
      guard let user else { return preview.isOpenToAnyone ? (preview, nil) : nil }
      guard try preview.isAccessible(to: user, in: transaction, of: rooms) else { return nil }
      return (preview, room.membership(of: user) ?? .leave)
    }
    guard let found else { throw MatrixError.notFound("There is no such room, or you may not see it.") }
    return found
  }

  // MARK: Tokens

  private func start(of root: RoomID, _ query: Query, for user: UserID) throws -> SpaceWalk {
    guard let token = query.from else {
      return SpaceWalk(
        from: root, maxDepth: min(query.maxDepth ?? Self.depthMaximum, Self.depthMaximum),
        suggestedOnly: query.suggestedOnly ?? false)
    }
    let unknown = MatrixError.invalidParameter("'from' is not known, or no longer; begin again without it.")
    try names.check(token.string, orElse: unknown)
    guard let found = waiting.withLock({ $0[token] }), found.user == user, found.root == root,
      clock.now() - found.since < Self.tokenMilliseconds
    else { throw unknown }
    if let depth = query.maxDepth, min(depth, Self.depthMaximum) != found.walk.maxDepth {
      throw MatrixError.invalidParameter("'max_depth' must stay as it was on the first page.")
    }
    if let suggestedOnly = query.suggestedOnly, suggestedOnly != found.walk.suggestedOnly {
      throw MatrixError.invalidParameter("'suggested_only' must stay as it was on the first page.")
    }
    return found.walk
  }

  private func keep(_ next: Waiting) -> ByteString {
    let token = ByteString(names.marked(RandomText.urlSafe(bytes: 16)))
    let oldest = clock.now() - Self.tokenMilliseconds
    waiting.withLock { waiting in
      waiting = waiting.filter { $0.value.since > oldest }
      waiting[token] = next
      // One who asks again and again pushes out nobody else.
      while waiting.count(where: { $0.value.user == next.user }) > Self.userWaitingLimit {
        Self.forgetOldest(of: &waiting, besides: token) { $0.user == next.user }
      }
      while waiting.count > Self.waitingLimit || waiting.values.reduce(0, { $0 + $1.walk.size }) > Self.waitingSizeLimit {
        Self.forgetOldest(of: &waiting, besides: token) { _ in true }
      }
    }
    return token
  }

  private static func forgetOldest(
    of waiting: inout [ByteString: Waiting], besides token: ByteString, where isMeant: (Waiting) -> Bool
  ) {
    let oldest = waiting.filter { $0.key != token && isMeant($0.value) }.min { $0.value.since < $1.value.since }
    if let oldest { waiting[oldest.key] = nil }
  }
}
