import JSON
import MatrixModel

/// What one sync brought of a room.
struct TimelineBatch: Sendable {
  /// The oldest first.
  var events: [TimelineEvent]
  /// Whether events are missing in front of them.
  var isLimited: Bool
  /// From where one pages back from the first of them; nil at the room's start.
  var token: ByteString?

  /// A segment of the store; nil where it is corrupt.
  init?(record: JSON) {
    guard let listed = record["events"], listed.isArray else { return nil }
    events = listed.elements.compactMap { TimelineEvent($0) }
    isLimited = record["limited"]?.bool ?? false
    token = record["token"]?.text
  }

  init(events: [TimelineEvent], isLimited: Bool, token: ByteString?) {
    self.events = events
    self.isLimited = isLimited
    self.token = token
  }
}

extension Timeline {
  /// Takes a batch in at the end. While the store is still reading it waits for it.
  mutating func append(_ batch: TimelineBatch, ownUserID: UserID, _ ids: inout ItemIDs) -> [TimelineChange] {
    guard loadState == .loaded else {
      if loadState == .loading { waiting.append(batch) }
      return []
    }
    guard forwardState == .live, focus != .pinned else {
      if forwardState == .loading { waiting.append(batch) }
      return takeRelations(of: batch.events, ownUserID: ownUserID)
    }
    var changes: [TimelineChange] = []
    let isKnown = batch.events.first.map { itemOfEvent[$0.eventID] != nil } ?? false
    if isEmptyOfEvents {
      headToken = batch.token
      backState = batch.token == nil ? .atStart : .idle
    } else if batch.isLimited, !isKnown {
      changes = appendGap(token: batch.token, &ids)
    }
    return changes + append(batch.events, ownUserID: ownUserID, &ids)
  }

  private var isEmptyOfEvents: Bool { remoteCount == 0 && itemOfEvent.isEmpty }

  /// Builds the timeline from what the store held, then what came while it was reading, then the echoes.
  mutating func load(_ stored: [TimelineBatch], ownUserID: UserID, _ ids: inout ItemIDs) {
    let echoes = Array(items[remoteCount...])
    let batches = stored + waiting
    let (relations, showsThreads) = (relations, showsThreads)
    self = Timeline(focus)
    (self.relations, self.showsThreads) = (relations, showsThreads)
    loadState = .loaded
    items = echoes
    for batch in batches { _ = append(batch, ownUserID: ownUserID, &ids) }
    // An echo whose event came under no transaction ID of ours is here twice.
    var i = remoteCount
    while i < items.count {
      if let event = items[i].eventID, let known = itemOfEvent[event], known != items[i].id {
        items.remove(at: i)
      } else {
        i += 1
      }
    }
  }

  private mutating func appendGap(token: ByteString?, _ ids: inout ItemIDs) -> [TimelineChange] {
    guard let token = focus.gapToken(token), remoteCount > 0 else { return [] }
    let gap = TimelineItem(gap: ids.next())
    gapTokens[gap.id] = token
    items.insert(gap, at: remoteCount)
    remoteCount += 1
    return [.inserted(at: remoteCount - 1, [gap])]
  }
}

extension TimelineKey.Focus {
  /// From where one fills a gap behind which a sync went on at `token`. A thread is read from its end: "".
  func gapToken(_ token: ByteString?) -> ByteString? {
    if case .thread = self { return "" }
    return token
  }
}
