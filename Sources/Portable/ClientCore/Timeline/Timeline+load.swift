import JSON
import MatrixModel

extension Timeline {
  /// Takes in at the end what a sync brought. While the store is still reading it waits for it.
  mutating func append(_ segment: Segment, ownUserID: UserID, _ ids: inout ItemIDs) -> [TimelineChange] {
    guard loadState == .loaded else {
      if loadState != .failed { waiting.append(segment) }
      return []
    }
    guard forwardState == .live, focus != .pinned else {
      if forwardState == .loading { waiting.append(segment) }
      return takeRelations(of: segment.events, ownUserID: ownUserID)
    }
    var changes: [TimelineChange] = []
    if isEmptyOfEvents {
      head = segment.edge
      backState = segment.edge.token == nil && storedBefore == nil ? .atStart : .idle
    } else if segment.edge.isLimited, !isKnown(segment) {
      changes = appendGap(segment.edge, &ids)
    }
    return changes + append(segment.events, ownUserID: ownUserID, &ids)
  }

  /// Whether an event of it is here: then nothing is missing in between.
  func isKnown(_ segment: Segment) -> Bool { segment.events.contains { itemOfEvent[$0.eventID] != nil } }

  private var isEmptyOfEvents: Bool { remoteCount == 0 && itemOfEvent.isEmpty }

  /// Builds the timeline from the end of what the store holds (the newest first), what came while it was reading, and the
  /// echoes.
  mutating func load(_ records: [StoreRecord], lastBlock: Int64, ownUserID: UserID, _ ids: inout ItemIDs) {
    let echoes = Array(items[remoteCount...])
    let waiting = self.waiting
    let (relations, showsThreads, former) = ($relations, showsThreads, formerItems)
    self = Timeline(focus)
    ($relations, self.showsThreads, formerItems) = (relations, showsThreads, former)
    loadState = .loaded
    items = echoes
    head.position = SegmentPosition(block: max(lastBlock, 0))
    _ = prepend(records, ownUserID: ownUserID, &ids)
    let last = records.first.flatMap { SegmentPosition(key: $0.key) }
    for segment in waiting {
      // What the store had read already.
      if let last, segment.position <= last { continue }
      _ = append(segment, ownUserID: ownUserID, &ids)
    }
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

  /// Puts stored segments in front, the newest first, with gaps where events are missing between them.
  mutating func prepend(_ records: [StoreRecord], ownUserID: UserID, _ ids: inout ItemIDs) -> PageOutcome {
    var outcome = PageOutcome()
    var run = OlderRun(unplaced: unplacedEvents)
    var isFirst = storedBefore == nil && isEmptyOfEvents
    for record in records {
      // In front of one that cannot be read, events are missing.
      guard let segment = Segment(record) else {
        head.isLimited = true
        continue
      }
      if !isFirst, head.isLimited, head.token != nil, !head.isJoined(to: segment), !isKnown(segment) {
        let gap = TimelineItem(gap: ids.next())
        gaps[gap.id] = head
        run.append(gap, &itemOfEvent)
      }
      isFirst = false
      for event in segment.events.reversed() where itemOfEvent[event.eventID] == nil {
        take(event, into: &run, &ids, &outcome)
      }
      head = segment.edge
    }
    unplacedEvents = run.unplaced
    let hasMore = records.count == Limits.loadedSegments
    storedBefore = hasMore ? records.last.flatMap { SegmentPosition(key: $0.key) } : nil
    if !records.isEmpty { backState = head.token == nil && !hasMore ? .atStart : .idle }
    insert(run, at: 0, ownUserID: ownUserID, &outcome)
    return outcome
  }

  private mutating func appendGap(_ edge: SegmentEdge, _ ids: inout ItemIDs) -> [TimelineChange] {
    guard let token = focus.gapToken(edge.token) else { return [] }
    var edge = edge
    edge.token = token
    let gap = TimelineItem(gap: ids.next())
    gaps[gap.id] = edge
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
