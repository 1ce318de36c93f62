import JSON
import MatrixClient
import MatrixModel

/// The last messages of a room, and those to come.
struct Reading: Sendable {
  let client: MatrixClient
  let room: RoomID
  let show: @Sendable (TranscriptEntry) -> Void

  private static let pageEvents = 100
  /// Pages looked through for entries: reactions and edits are none.
  private static let pagesLimit = 200

  func showLast(_ limit: Int) async throws {
    for entry in try await last(limit) { show(entry) }
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

  /// Ends only with an error: when the session ends, or the task is cancelled.
  func follow(after limit: Int) async throws {
    // From here on nothing is missed; what is in both is shown once.
    var changes = await client.changes().makeAsyncIterator()
    await client.showThreadsInline()
    try await client.perform(.openRoom(room))
    while await client.state(of: room)?.timeline.loadState != .loaded {
      guard await changes.next() != nil else { throw ClientError.cancelled }
    }
    let items = await client.state(of: room)?.timeline.items ?? []
    var shown = Set(items.compactMap { $0.eventID })
    var oldGaps = Set(items.filter { $0.isGap }.map { $0.id })
    for entry in try await last(limit) {
      show(entry)
      shown.insert(entry.eventID)
    }
    while let change = await changes.next() {
      if case .session = change, await client.sessionState != .signedIn { throw ClientError.notSignedIn }
      guard case .timeline(.live(room), let steps) = change else { continue }
      for item in steps.flatMap(\.newItems) {
        if case .gap(.idle) = item.content, !oldGaps.contains(item.id) {
          _ = try? await client.perform(.fillGap(.live(room), item.id))
        } else if case .gap(.failed) = item.content {
          oldGaps.insert(item.id)
        } else if let entry = TranscriptEntry(item), shown.insert(entry.eventID).inserted {
          show(entry)
        }
      }
    }
    throw ClientError.cancelled
  }
}

extension TimelineItem {
  fileprivate var isGap: Bool {
    if case .gap = content { return true }
    return false
  }
}

extension TimelineChange {
  fileprivate var newItems: [TimelineItem] {
    switch self {
    case .inserted(_, let items): items
    case .updated(_, let item): [item]
    case .removed, .reset: []
    }
  }
}
