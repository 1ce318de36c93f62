import Database
import EventLoop
import MatrixModel
import Synchronization

/// Knows for each user who syncs whether there may be news, and wakes the syncs that wait for some.
///
/// News is *noted* before the committed position moves (`apply`) and waiters are *woken* after: who reads
/// the committed position and then looks for news up to it misses nothing.
package final class Notifier: NoteFollower {
  private final class Shard: Sendable {
    struct State {
      var users: [UserID: UserWatch] = [:]
      var rooms: [RoomNumber: RoomWatch] = [:]
      var sweptAt: UInt64 = 0
    }

    let state = Mutex(State())
  }

  private static let shardCount = 16
  /// How long after its last sync a user is watched on.
  private static let idleNanoseconds: UInt64 = 10 * 60 * 1_000_000_000

  /// Timers of those who are on no event loop.
  private static let sharedLoop: EventLoop? = try? EventLoop(name: "timers")

  private let shards = (0..<shardCount).map { _ in Shard() }

  package init(_ database: Database) { database.follow(.news, .receipts, .onlyFor, by: self) }

  deinit {
    // Users and rooms hold each other.
    for shard in shards { for room in shard.state.withLock({ $0.rooms.values.map { $0 } }) { room.removeAll() } }
  }

  // MARK: Publishing

  /// Tells, with the commit of `transaction`, that `position` holds something for each of `users`.
  package func publish(position: Int64, users: [UserID], in transaction: WriteTransaction) {
    transaction.note(.news(users, position: position))
  }

  package func apply(_ note: Note, _ rows: CommittedRows) {
    switch note {
    case .news(let users, let position):
      for user in users { watch(of: user)?.position.raise(to: position) }
    case .receipts(let room, _, let position): existingWatch(of: room)?.position.raise(to: position)
    case .onlyFor(let user, let room, let position):
      existingWatch(of: room)?.position.raise(to: position)
      watch(of: user)?.position.raise(to: position)
    default: break
    }
  }

  package func wake(_ note: Note) {
    switch note {
    case .news(let users, _): for user in users { wake(user) }
    case .receipts(let room, _, _): wake(room)
    case .onlyFor(let user, _, _): wake(user)
    default: break
    }
  }

  /// Notes that a room has events up to `position`; `wake` follows when they can be read.
  package func raise(_ room: RoomNumber, to position: Int64) {
    guard let watch = existingWatch(of: room) else { return }
    watch.newestEvent.raise(to: position)
    watch.position.raise(to: position)
  }

  /// Notes that a user's membership of a room has changed at `position`; `wake` follows when the change can be read.
  package func raise(_ user: UserID, _ isJoined: Bool, in room: RoomNumber, to position: Int64) {
    guard let watch = watch(of: user) else { return }
    watch.position.raise(to: position)
    if isJoined { watch.add(roomWatch(room, position: position)) } else { watch.remove(room) }
  }

  /// Notes that who is typing in a room has changed; `wake(_:)` follows when the change can be read.
  package func note(typing: Int64, in room: RoomNumber) { existingWatch(of: room)?.typing.raise(to: typing) }

  /// Tells those who sync in `rooms` that somebody's presence has changed; each is woken once.
  package func note(presence version: Int64, in rooms: Set<RoomNumber>) {
    var watches: [ObjectIdentifier: UserWatch] = [:]
    for room in rooms {
      for watch in existingWatch(of: room)?.users ?? [] { watches[ObjectIdentifier(watch)] = watch }
    }
    for watch in watches.values { watch.presence.raise(to: version) }
    for watch in watches.values { watch.wake() }
  }

  /// Tells a user's own devices that the user's presence has changed.
  package func note(presence version: Int64, of user: UserID) {
    guard let watch = watch(of: user) else { return }
    watch.presence.raise(to: version)
    watch.wake()
  }

  /// Ends the waits of a user whose sessions have changed: some of them may be logged out or locked.
  package func endWaits(of user: UserID) {
    guard let watch = watch(of: user) else { return }
    watch.sessionChanges.wrappingAdd(1, ordering: .sequentiallyConsistent)
    watch.wake()
  }

  package func wake(_ room: RoomNumber) { existingWatch(of: room)?.wake() }

  package func wake(_ user: UserID) { watch(of: user)?.wake() }

  // MARK: Watching

  func watch(of user: UserID) -> UserWatch? {
    shard(of: user).state.withLock { $0.users[user] }
  }

  /// The user's watch, or a new one that counts everything up to `position` as news.
  ///
  /// If it is incomplete, the caller reads the user's rooms after this call and adds them: what is published from now on
  /// reaches the watch.
  package func watch(of user: UserID, position: @autoclosure () -> Int64) -> UserWatch {
    let now = EventLoop.nowNanoseconds
    let (watch, idle) = shard(of: user).state.withLock { state -> (UserWatch, [UserWatch]) in
      if let watch = state.users[user] { return (watch, []) }
      let watch = UserWatch(userID: user, position: position())
      let idle = Self.sweep(&state, now)
      state.users[user] = watch
      return (watch, idle)
    }
    watch.usedAt.store(now, ordering: .relaxed)
    for watch in idle { watch.detach() }
    return watch
  }

  /// The room's watch; a new one starts at `position`, and a reader raises it to what the rows say.
  package func roomWatch(_ room: RoomNumber, position: Int64) -> RoomWatch {
    shard(of: room).state.withLock { state in
      if let watch = state.rooms[room] { return watch }
      let watch = RoomWatch(room: room, position: position)
      state.rooms[room] = watch
      return watch
    }
  }

  private func existingWatch(of room: RoomNumber) -> RoomWatch? {
    shard(of: room).state.withLock { $0.rooms[room] }
  }

  private static func sweep(_ state: inout Shard.State, _ now: UInt64) -> [UserWatch] {
    guard now &- state.sweptAt > idleNanoseconds / 10 else { return [] }
    state.sweptAt = now
    let idle = state.users.values.filter { watch in
      !watch.isParked && now &- watch.usedAt.load(ordering: .relaxed) > idleNanoseconds
    }
    for watch in idle { state.users[watch.userID] = nil }
    return idle
  }

  private func shard(of user: UserID) -> Shard { shards[Int(UInt(bitPattern: user.hashValue) % UInt(Self.shardCount))] }

  private func shard(of room: RoomNumber) -> Shard {
    shards[Int(UInt64(bitPattern: room.value) % UInt64(Self.shardCount))]
  }

  // MARK: Waiting

  /// Parks the caller until there may be something after `seen`, or until `deadline` (monotonic nanoseconds).
  ///
  /// A parked request costs its task, one small object and one timer, and all of it goes with the task's cancellation.
  ///
  /// - Parameter sessionChanges: the watch's count when the request began.
  /// - Returns: whether the request may wait on. False if the user's sessions have changed since it began, or if the task is
  ///   cancelled: the server stops, or the client has gone.
  @inline(never)
  package nonisolated(nonsending) func wait(
    _ watch: UserWatch, after seen: SyncPosition, sessionChanges: Int, until deadline: UInt64
  ) async -> Bool {
    let request = ParkedSync()
    watch.park(request)
    let timer = (EventLoop.current ?? Self.sharedLoop)?.schedule(atNanoseconds: deadline) { request.finish() }
    if watch.hasNews(after: seen) || watch.sessionChanges.load(ordering: .sequentiallyConsistent) != sessionChanges {
      request.finish()
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { request.park($0) }
    } onCancel: {
      request.finish()
    }
    timer?.cancel()
    watch.unpark(request)
    watch.usedAt.store(EventLoop.nowNanoseconds, ordering: .relaxed)
    return !Task.isCancelled && watch.sessionChanges.load(ordering: .sequentiallyConsistent) == sessionChanges
  }

  /// The loop for timers of the calling thread.
  package static var loop: EventLoop? { EventLoop.current ?? sharedLoop }
}

extension Atomic<Int64> {
  /// Never lowers the value.
  package func raise(to value: Int64) { _ = max(value, ordering: .sequentiallyConsistent) }
}
