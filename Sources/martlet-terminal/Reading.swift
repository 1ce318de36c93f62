import JSON
import MatrixClient
import MatrixModel

/// The last messages of a room, and those to come.
struct Reading: Sendable {
  let client: MatrixClient
  let room: RoomID
  let show: @Sendable (TranscriptLine) -> Void

  private static let pageEvents = 100
  /// Pages looked through for entries: reactions and edits are none.
  private static let pagesLimit = 200

  func showLast(_ limit: Int) async throws {
    for line in await withKeys(try await last(limit)) { show(line) }
  }

  /// The entries, and between them what is known of changed keys of members.
  private func withKeys(_ entries: [TranscriptEntry]) async -> [TranscriptLine] {
    guard let first = entries.first, let state = await client.room(room).state, state.isEncrypted else {
      return entries.map { .entry($0) }
    }
    var changes = await client.encryption.identityChanges().filter {
      $0.timestampMilliseconds >= first.timestampMilliseconds && state.membership(of: $0.user) == .join
    }[...]
    var lines: [TranscriptLine] = []
    func tell(until time: Int64) {
      while let change = changes.first, change.timestampMilliseconds < time {
        changes.removeFirst()
        lines.append(.keys(.identityChanged(change.user, wasVerified: false), at: change.timestampMilliseconds))
      }
    }
    for entry in entries {
      tell(until: entry.timestampMilliseconds)
      lines.append(.entry(entry))
    }
    tell(until: .max)
    return lines
  }

  /// The oldest first.
  private func last(_ limit: Int) async throws -> [TranscriptEntry] {
    var entries: [TranscriptEntry] = []
    var from: ByteString?
    for _ in 0..<Self.pagesLimit where entries.count < limit {
      let page = try await client.perform(.messages(in: room, from: from, limit: min(Self.pageEvents, limit - entries.count)))
      entries += page.events.compactMap { TranscriptEntry($0) }
      guard let next = page.nextBatch, next != from else { break }
      from = next
    }
    return entries.prefix(limit).reversed()
  }

  // MARK: Following

  /// Ends only with an error: when the session ends, or the task is cancelled.
  func follow(after limit: Int) async throws {
    await client.showThreadsInline()
    let timeline = client.room(room).timeline()
    try await timeline.open()
    try await timeline.loadLast(limit) { TranscriptEntry($0) != nil }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await follow(timeline, after: limit) }
      group.addTask {
        for await state in await client.sessionStates() where state != .signedIn { throw ClientError.notSignedIn }
      }
      group.addTask { await followKeys() }
      // A gap that could not be filled is filled once the server answers again.
      group.addTask {
        for await state in await client.connectionStates() {
          if case .running = state { await fillFailedGaps(of: timeline) }
        }
      }
      try await group.next()
      throw ClientError.cancelled
    }
  }

  /// Tells what makes messages of the room less sure than before, and of new devices of the user. It waits for the end, as the others do.
  private func followKeys() async {
    let events = await client.encryption.events()
    for change in await client.encryption.changedIdentities() {
      await tell(.identityChanged(change.user, wasVerified: change.wasVerified))
    }
    for await event in events { await tell(event) }
    while !Task.isCancelled, (try? await Task.sleep(for: .seconds(3_600))) != nil {}
  }

  private func tell(_ event: EncryptionEvent) async {
    if event.user != (await client.session?.userID) {
      // A device of somebody else that they have signed is no news.
      if case .deviceAppeared(_, _, _, isSigned: true) = event { return }
      if case .deviceGone = event { return }
      guard let state = await client.room(room).state, state.isEncrypted, state.membership(of: event.user) == .join else {
        return
      }
    }
    show(.keys(event, at: Clock.now()))
  }

  private func follow(_ timeline: MatrixTimeline, after limit: Int) async throws {
    var transcript = Transcript()
    /// Those that stand before what is shown.
    var oldGaps: Set<ItemID> = []
    var isEmpty = true
    for await steps in try await timeline.changes() {
      for step in steps {
        switch step {
        case .reset(let items) where isEmpty:
          oldGaps = Set(items.filter { $0.isGap }.map { $0.id })
          for entry in items.compactMap({ TranscriptEntry($0) }).suffix(limit) { transcript.take(entry).forEach(show) }
          transcript.leaveOut(items)
          isEmpty = items.isEmpty
        // In front: from the store.
        case .inserted(0, let items) where !isEmpty: transcript.leaveOut(items)
        case .inserted(_, let items):
          isEmpty = false
          for item in items { await take(item, of: timeline, oldGaps, &transcript) }
        case .updated(_, let item): await take(item, of: timeline, oldGaps, &transcript)
        case .removed, .reset: break
        }
      }
    }
  }

  private func take(
    _ item: TimelineItem, of timeline: MatrixTimeline, _ oldGaps: Set<ItemID>, _ transcript: inout Transcript
  ) async {
    if case .gap(.idle) = item.content, !oldGaps.contains(item.id) {
      _ = try? await timeline.fillGap(item.id)
    } else if let entry = TranscriptEntry(item) {
      transcript.take(entry).forEach(show)
    }
  }

  private func fillFailedGaps(of timeline: MatrixTimeline) async {
    for item in await timeline.items {
      if case .gap(.failed) = item.content { _ = try? await timeline.fillGap(item.id) }
    }
  }
}

extension TimelineItem {
  fileprivate var isGap: Bool {
    if case .gap = content { return true }
    return false
  }
}
