import Database
import EventLoop
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// Answers `GET /sync`: looks for news in memory, parks the request if there is none, collects the streams and writes the answer.
///
/// Spec: Client-Server API, "Syncing".
package final class SyncEngine: Sendable {
  /// Of this process: typing positions of another one mean nothing here. Where there are several nodes it is the node's run.
  let boot: Int64
  let database: Database
  let notifier: Notifier
  let sources: SyncSources
  let toDeviceMessages: ToDeviceMessages
  let clock: WallClock

  package init(
    database: Database, notifier: Notifier, sources: SyncSources, toDeviceMessages: ToDeviceMessages, clock: WallClock,
    boot: Int64? = nil
  ) {
    self.database = database
    self.notifier = notifier
    self.sources = sources
    self.toDeviceMessages = toDeviceMessages
    self.clock = clock
    self.boot = boot ?? (database.run != 0 ? database.run : .random(in: 0..<1 << 40))
  }

  /// The answer's body. With a token, waits for news up to the timeout; an answer without news says so early or late. Cancelling
  /// the task, and a change of the user's sessions, end the wait with such an answer.
  ///
  /// - Parameter charge: called before an answer that tells everything, or much that the device was told before; may refuse it.
  /// Throws `CancellationError` when the task is cancelled before it waits, `DatabaseError`, and what `charge` throws.
  package nonisolated(nonsending) func sync(
    _ request: SyncRequest, _ charge: @Sendable () throws -> Void = {}
  ) async throws -> [UInt8] {
    if request.since == nil || request.isFullState { try charge() }
    let watch = try await watch(of: request.userID)
    let sessionChanges = watch.sessionChanges.load(ordering: .sequentiallyConsistent)
    // After the watch was made: it is told of the change.
    try await sources.presence.began(request.userID, request.deviceID, request.presence)
    defer { sources.presence.ended(request.userID, request.deviceID, request.presence) }
    let delivery = watch.delivery(to: request.deviceID)
    guard let since = request.since else {
      delivery.forgetMembers()
      return try await answer(request, from: nil, toDeviceFrom: 0, watch, delivery).bytes
    }
    try await acknowledge(since.toDevice, request.userID, request.deviceID, delivery)
    if request.isFullState {
      return try await answer(request, from: position(of: since), toDeviceFrom: since.toDevice, watch, delivery).bytes
    }
    if retellsMuch(after: position(of: since), watch, delivery) { try charge() }
    return try await incremental(request, since, watch, delivery, sessionChanges)
  }

  private nonisolated(nonsending) func incremental(
    _ request: SyncRequest, _ since: SyncToken, _ watch: UserWatch, _ delivery: DeviceDelivery, _ sessionChanges: Int
  ) async throws -> [UInt8] {
    let deadline = EventLoop.nowNanoseconds + UInt64(request.timeoutMilliseconds) * 1_000_000
    var seen = position(of: since)
    var toDeviceFrom = since.toDevice
    if since.boot != boot { await waitForLasting(seen, toDeviceFrom, watch, sessionChanges, until: deadline) }
    while true {
      let counts = delivery.keyCounts(asOf: watch.position.load(ordering: .sequentiallyConsistent))
      if toDeviceFrom < seen.position || counts == nil || watch.hasNews(after: seen) {
        let answer = try await answer(request, from: seen, toDeviceFrom: toDeviceFrom, watch, delivery)
        guard answer.isEmpty, EventLoop.nowNanoseconds < deadline else { return answer.bytes }
        seen = answer.seen
        toDeviceFrom = seen.position
      } else if let counts, EventLoop.nowNanoseconds >= deadline {
        return SyncChanges.idle(counts.members, nextBatch: SyncToken(seen, boot: boot))
      } else if let counts, await !notifier.wait(watch, after: seen, sessionChanges: sessionChanges, until: deadline) {
        return SyncChanges.idle(counts.members, nextBatch: SyncToken(seen, boot: boot))
      }
    }
  }

  /// For how long what lives in memory alone is held back from a token of another process.
  private static let strangeTokenNanoseconds: UInt64 = 1_000_000_000

  /// A token of another process does not tell who was seen typing and online, so all of it is told again. A client that comes to another node with
  /// each request would be told so at once, each time, without end: it waits a moment for what lasts, or for what is new.
  @inline(never)
  private nonisolated(nonsending) func waitForLasting(
    _ seen: SyncPosition, _ toDeviceFrom: Int64, _ watch: UserWatch, _ sessionChanges: Int, until deadline: UInt64
  ) async {
    let now = SyncPosition(position: seen.position, typing: sources.rooms.typing.position)
    guard toDeviceFrom >= seen.position, !watch.hasNews(after: now) else { return }
    _ = await notifier.wait(
      watch, after: now, sessionChanges: sessionChanges,
      until: min(deadline, EventLoop.nowNanoseconds + Self.strangeTokenNanoseconds))
  }

  /// A token from the future (of a database that was set back) counts as one of now.
  private func position(of since: SyncToken) -> SyncPosition {
    var seen = since.seen(inBoot: boot)
    seen.position = min(seen.position, database.committedPosition)
    return seen
  }

  // MARK: Answering

  private struct Answer: Sendable {
    let bytes: [UInt8]
    let isEmpty: Bool
    let seen: SyncPosition
  }

  // Not inlined, like `watch` and `acknowledge`: a parked request would keep memory for their variables. A request that found news before
  // it parked has been in here, and a task keeps the memory of its deepest call, so large values are in `Attempt`.
  @inline(never)
  private nonisolated(nonsending) func answer(
    _ request: SyncRequest, from: SyncPosition?, toDeviceFrom: Int64, _ watch: UserWatch, _ delivery: DeviceDelivery
  ) async throws -> Answer {
    let attempt = attempt(request, from: from, toDeviceFrom: toDeviceFrom, watch, delivery)
    if let answer = try answerFromMemory(attempt) { return answer }
    return try await database.read { [self] transaction in
      try answer(attempt, SyncRows(transaction, completeUpTo: attempt.to.position))
    }
  }

  /// One answer in the making: from where to where, and what has news.
  private final class Attempt: Sendable {
    let request: SyncRequest
    let from: SyncPosition?
    let to: SyncPosition
    let toDeviceFrom: Int64
    let rooms: [RoomNumber]
    let hasOwnNews: Bool
    let watch: UserWatch
    let delivery: DeviceDelivery

    init(
      _ request: SyncRequest, from: SyncPosition?, to: SyncPosition, toDeviceFrom: Int64, rooms: [RoomNumber],
      hasOwnNews: Bool, _ watch: UserWatch, _ delivery: DeviceDelivery
    ) {
      self.request = request
      self.from = from
      self.to = to
      self.toDeviceFrom = toDeviceFrom
      self.rooms = rooms
      self.hasOwnNews = hasOwnNews
      self.watch = watch
      self.delivery = delivery
    }
  }

  @inline(never)
  private func attempt(
    _ request: SyncRequest, from: SyncPosition?, toDeviceFrom: Int64, _ watch: UserWatch, _ delivery: DeviceDelivery
  ) -> Attempt {
    // Typing first: what is seen later than the position is told again, never lost.
    let typing = sources.rooms.typing.position
    let to = SyncPosition(position: database.committedPosition, typing: typing)
    // Rooms before own news, and both before any row: who goes out of a room meanwhile has news of their own, and rows that say so.
    let rooms = from.map { watch.rooms(withNewsAfter: $0) } ?? []
    let hasOwnNews = from.map { watch.position.load(ordering: .sequentiallyConsistent) > $0.position } ?? true
    return Attempt(
      request, from: from, to: to, toDeviceFrom: toDeviceFrom, rooms: rooms, hasOwnNews: hasOwnNews, watch, delivery)
  }

  /// nil if the answer needs rows.
  @inline(never)
  private func answerFromMemory(_ attempt: Attempt) throws -> Answer? {
    guard !attempt.hasOwnNews else { return nil }
    do {
      return try answer(attempt, .none)
    } catch is SyncRows.NotInMemory {
      return nil
    }
  }

  private func answer(_ attempt: Attempt, _ rows: SyncRows) throws -> Answer {
    let context = SyncContext(
      request: attempt.request, from: attempt.from, to: attempt.to, toDeviceFrom: attempt.toDeviceFrom,
      hasOwnNews: attempt.hasOwnNews, delivery: attempt.delivery, sources: sources, rows: rows)
    let changes = try SyncChanges.gather(context, attempt.watch, roomsWithNews: attempt.rooms)
    let next = SyncToken(attempt.to, boot: boot, toDevice: changes.toDevice.end)
    attempt.delivery.told(upTo: attempt.to.position)
    if changes.isEmpty {
      return Answer(
        bytes: SyncChanges.idle(changes.keyCounts.members, nextBatch: next), isEmpty: true, seen: attempt.to)
    }
    var writer = JSONWriter(capacity: 1_024)
    changes.write(to: &writer, context, nextBatch: next, now: clock.now())
    return Answer(bytes: writer.bytes, isEmpty: false, seen: attempt.to)
  }

  // MARK: Costs

  /// Rooms in memory that are told again for nothing.
  static let retoldRoomsLimit = 50

  /// Whether a token is older than what the device was told, or not known to be newer, and what to tell again is more than a few
  /// rooms' newest events: that costs what an initial sync does. An answer that goes on from the last one costs what has happened
  /// since, which others were charged for.
  private func retellsMuch(after seen: SyncPosition, _ watch: UserWatch, _ delivery: DeviceDelivery) -> Bool {
    guard delivery.mayHaveBeenTold(after: seen.position) else { return false }
    if watch.position.load(ordering: .sequentiallyConsistent) > seen.position { return true }
    let rooms = watch.rooms(withNewsAfter: seen)
    return rooms.count > Self.retoldRoomsLimit
      || rooms.contains { sources.rooms.cache.cachedSnapshot(of: $0)?.tailCovers(after: seen.position) != true }
  }

  // MARK: Watching

  /// The user's watch with all joined rooms.
  @inline(never)
  nonisolated(nonsending) func watch(of user: UserID) async throws -> UserWatch {
    let watch = notifier.watch(of: user, position: database.committedPosition)
    if watch.isComplete.load(ordering: .acquiring) { return watch }
    let rooms = try await database.read { [sources, notifier] transaction in
      try sources.rooms.memberships.rooms(of: user, in: transaction).filter { $0.value.membership == .join }
        .keys.map { notifier.roomWatch($0, position: 0) }
    }
    try await complete(rooms.filter { !$0.isComplete.load(ordering: .acquiring) })
    for room in rooms { watch.add(room) }
    watch.isComplete.store(true, ordering: .releasing)
    return watch
  }

  /// Tells watches of rooms what is in the rows. The rows are read after the watches were made: what is not among them yet is
  /// published to the watches. Once for each room, not for each of its members: nothing has the newest receipt in an index.
  private nonisolated(nonsending) func complete(_ rooms: [RoomWatch]) async throws {
    guard !rooms.isEmpty else { return }
    try await database.read { [sources] transaction in
      for room in rooms {
        let newest = { (sql: StaticString) in try transaction.first(sql, room.room) { $0.integer(0) } ?? 0 }
        let event = try newest("SELECT MAX(position) FROM event WHERE room = $1")
        room.newestEvent.raise(to: event)
        room.position.raise(to: max(event, try newest("SELECT MAX(position) FROM receipt WHERE room = $1")))
        room.typing.raise(to: sources.rooms.typing.users(in: room.room).version)
        room.isComplete.store(true, ordering: .releasing)
      }
    }
  }

  /// The device has what it was sent up to its token: those messages are deleted.
  @inline(never)
  nonisolated(nonsending) func acknowledge(
    _ position: Int64, _ user: UserID, _ device: DeviceID, _ delivery: DeviceDelivery
  ) async throws {
    guard delivery.mayHaveUnacknowledged(upTo: position) else { return }
    try await toDeviceMessages.acknowledge(for: user, device, upTo: position)
    delivery.acknowledged(upTo: position)
  }
}
