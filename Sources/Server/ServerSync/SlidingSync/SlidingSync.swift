import Database
import EventLoop
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import Synchronization

/// Answers simplified sliding sync: finds the rooms that lists and subscriptions mean, tells what the connection has not been
/// told of them, parks where there is nothing.
///
/// What an answer costs depends on the rooms it tells; of the user's other rooms it costs a few comparisons each. Spec: MSC4186.
package final class SlidingSync: Sendable {
  private let engine: SyncEngine
  private let connections = SlidingConnections()
  private let answers = Atomic<Int64>(0)

  package init(_ engine: SyncEngine) { self.engine = engine }

  /// The answer's body. A request with a position waits for news up to its timeout. Cancelling the task, and a change of the
  /// user's sessions, end the wait with an answer without news.
  ///
  /// - Parameter charge: called before a connection's first answer, and before one that tells whole rooms or tells them from far
  ///   back, with the share of an initial sync that it costs: above 0, at most 1. May refuse it.
  /// Throws `M_UNKNOWN_POS`, `CancellationError` when the task is cancelled before it waits, `DatabaseError`, and what `charge` throws.
  package nonisolated(nonsending) func sync(
    _ request: SlidingRequest, _ charge: @escaping @Sendable (_ share: Double) throws -> Void = { _ in }
  ) async throws -> [UInt8] {
    if request.position == nil { try charge(1) }
    let watch = try await engine.watch(of: request.userID)
    let sessionChanges = watch.sessionChanges.load(ordering: .sequentiallyConsistent)
    try await engine.sources.presence.began(request.userID, request.deviceID, request.presence)
    defer { engine.sources.presence.ended(request.userID, request.deviceID, request.presence) }
    let connection = try connection(of: request)
    if let since = request.extensions.toDevice?.since, since > 0 {
      try await engine.acknowledge(since, request.userID, request.deviceID, watch.delivery(to: request.deviceID))
    }
    let deadline = EventLoop.nowNanoseconds + UInt64(request.timeoutMilliseconds) * 1_000_000
    let known = request.position?.answer ?? 0
    while true {
      guard let content = connection.content(of: known) else { throw MatrixError.unknownPosition() }
      let answer = try await answer(request, content, watch, charge)
      var isComplete = answer.isNews || known == 0 || EventLoop.nowNanoseconds >= deadline
      if !isComplete {
        isComplete = await !engine.notifier.wait(
          watch, after: answer.changes.seen, sessionChanges: sessionChanges, until: deadline)
      }
      guard isComplete else { continue }
      connection.add(answer.changes, as: answer.number, after: known)
      return answer.bytes
    }
  }

  private func connection(of request: SlidingRequest) throws -> SlidingConnection {
    let now = EventLoop.nowNanoseconds
    guard let position = request.position else {
      return connections.open(request.userID, request.deviceID, request.connectionID, now: now)
    }
    if engine.database.run != 0, position.boot != engine.boot {
      throw Elsewhere(run: position.boot, otherwise: MatrixError.unknownPosition())
    }
    guard position.boot == engine.boot,
      let connection = connections.known(request.userID, request.deviceID, request.connectionID, now: now),
      connection.acknowledge(position.answer)
    else { throw MatrixError.unknownPosition() }
    return connection
  }

  // MARK: Answering

  private struct Answer: Sendable {
    let number: Int64
    let bytes: [UInt8]
    let changes: SlidingConnection.Changes
    let isNews: Bool
  }

  @inline(never)
  private nonisolated(nonsending) func answer(
    _ request: SlidingRequest, _ content: SlidingConnection.Content, _ watch: UserWatch,
    _ charge: @escaping @Sendable (Double) throws -> Void
  ) async throws -> Answer {
    // Typing first: what is seen later than the position is told again, never lost.
    let typing = engine.sources.rooms.typing.position
    let to = SyncPosition(position: engine.database.committedPosition, typing: typing)
    do {
      return try answer(request, content, watch, to, .none, charge)
    } catch is SyncRows.NotInMemory {}
    return try await engine.database.read { [self] transaction in
      try answer(request, content, watch, to, SyncRows(transaction, completeUpTo: to.position), charge)
    }
  }

  private func answer(
    _ request: SlidingRequest, _ content: SlidingConnection.Content, _ watch: UserWatch, _ to: SyncPosition, _ rows: SyncRows,
    _ charge: (Double) throws -> Void
  ) throws -> Answer {
    let ownNews = watch.position.load(ordering: .sequentiallyConsistent)
    let sync = SyncContext(
      request: SyncRequest(userID: request.userID, deviceID: request.deviceID), from: content.seen, to: to, toDeviceFrom: 0,
      hasOwnNews: content.seen.map { ownNews > $0.position } ?? true, delivery: watch.delivery(to: request.deviceID),
      sources: engine.sources, rows: rows)
    let context = try SlidingContext(request, sync, content, watch)
    let window = try SlidingWindow(context)
    var changes = SlidingConnection.Changes(seen: to)
    changes.window = window.places
    let streams = try streams(window, context)
    try pay(for: streams, context, charge)
    let told = try tell(streams, &changes)
    let purged = try PurgedRoomStream.changes(sync)
    let extensions = try SlidingExtensions(context, window, told: told)
    changes.keyCounts = extensions.keyCounts
    changes.hasEndToEnd = extensions.keyCounts != nil
    changes.hasAccountData = extensions.accountData != nil
    for (list, count) in window.counts { changes.counts[list] = count }
    let number = answers.wrappingAdd(1, ordering: .relaxed).newValue
    var writer = JSONWriter(capacity: 2_048)
    write(context, window, told, purged, extensions, SlidingPosition(to, boot: engine.boot, answer: number), to: &writer)
    let isNews = !told.isEmpty || !purged.isEmpty || extensions.isNews || changes.counts != content.counts
    return Answer(number: number, bytes: writer.bytes, changes: changes, isNews: isNews)
  }

  /// The rooms where something may be new.
  private func streams(_ window: SlidingWindow, _ context: SlidingContext) throws -> [SlidingRoomStream] {
    let news = Set(context.content.seen.map { context.watch.rooms(withNewsAfter: $0) } ?? [])
    return try window.rooms.compactMap { entry in
      let number = entry.room.number
      // Of a room that was outside, receipts may have moved meanwhile.
      let isNews = news.contains(number) || context.content.window[number] == nil
      return try SlidingRoomStream(entry, isNews: isNews, context)
    }
  }

  /// Events looked up that cost as much as an initial sync.
  static let eventsOfInitialSync = 1_000

  private func pay(
    for streams: [SlidingRoomStream], _ context: SlidingContext, _ charge: (Double) throws -> Void
  ) throws {
    // The connection's first answer has been charged whole.
    guard context.content.seen != nil else { return }
    let events = streams.reduce(0) { $0 + $1.eventsToLookUp }
    guard events > 0 else { return }
    // It needs rows: what is put together in memory is not charged, and begun again with rows.
    _ = try context.rows.transaction()
    try charge(min(1, Double(events) / Double(Self.eventsOfInitialSync)))
  }

  private func tell(
    _ streams: [SlidingRoomStream], _ changes: inout SlidingConnection.Changes
  ) throws -> [SlidingRoom] {
    var told: [SlidingRoom] = []
    for stream in streams {
      guard let result = try stream.changes() else { continue }
      changes.rooms[stream.room.number] = result.sent
      if let room = result.told { told.append(room) }
    }
    return told
  }

  private func write(
    _ context: SlidingContext, _ window: SlidingWindow, _ told: [SlidingRoom], _ purged: [RoomID],
    _ extensions: SlidingExtensions,
    _ position: SlidingPosition, to writer: inout JSONWriter
  ) {
    let events = EventWriting(
      reader: EventReader(userID: context.user, deviceID: context.request.deviceID, now: engine.clock.now()), fields: nil,
      federation: nil)
    writer.object { writer in
      writer.member("pos", position.text)
      if let transactionID = context.request.transactionID { writer.member("txn_id", transactionID) }
      writer.key("lists")
      writer.object { writer in
        for (list, count) in window.counts {
          writer.key(list)
          writer.object { $0.member("count", count) }
        }
      }
      writer.key("rooms")
      writer.object { writer in
        for room in told {
          writer.key(room.room.roomID)
          room.write(to: &writer, events)
        }
        for room in purged {
          writer.key(room)
          writer.object { $0.member("membership", "leave") }
        }
      }
      writer.key("extensions")
      extensions.write(to: &writer, context, events)
    }
  }

  // MARK: Threads

  /// Threads of all the user's rooms with news after one place and up to another, the newest first.
  ///
  /// Spec: MSC4360, `GET /thread_updates`. `limit` is cut to `ThreadUpdates.limit`.
  package func threadUpdates(
    for user: UserID, _ device: DeviceID, from: TimelineToken?, to: TimelineToken?, limit: Int
  ) async throws -> [UInt8] {
    let committed = engine.database.committedPosition
    return try await engine.database.read { [engine] transaction in
      let rows = SyncRows(transaction, completeUpTo: committed)
      let ignored = try IgnoredUsers.of(user, in: transaction)
      let rooms = try engine.sources.rooms.memberships.rooms(of: user, in: transaction).filter { $0.value.membership == .join }
        .keys.compactMap { try engine.sources.rooms.cache.snapshot(of: $0, in: transaction) }
      let updates = try ThreadUpdates(
        in: rooms, after: to?.position ?? 0, upTo: min(from?.position ?? committed, committed), for: user, ignoring: ignored,
        limit: limit, rows)
      var writer = JSONWriter(capacity: 1_024)
      let events = EventWriting(
        reader: EventReader(userID: user, deviceID: device, now: engine.clock.now()), fields: nil, federation: nil)
      writer.object { writer in
        writer.key("chunk")
        updates.writeUpdates(to: &writer, events)
        if let next = updates.next { writer.member("next_batch", TimelineToken(position: next).text) }
      }
      return writer.bytes
    }
  }
}
