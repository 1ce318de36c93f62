import JSON
import MatrixModel

/// Where a page is wanted: what it was asked from, for the timeline may have changed since.
struct PagePlace: Sendable {
  /// nil in front of everything.
  let gap: ItemID?
  let edge: SegmentEdge
}

/// Items on their way into the timeline, the newest first.
struct OlderRun: Sendable {
  var items: [TimelineItem] = []
  /// Events without an item that stand at the item before them, which has not come yet.
  var unplaced: [EventID]

  mutating func append(_ item: TimelineItem, _ itemOfEvent: inout [EventID: ItemID]) {
    for event in unplaced { itemOfEvent[event] = item.id }
    unplaced = []
    items.append(item)
  }
}

/// Older events: a page in front of the first item or inside a gap.
extension Timeline {
  struct PageOutcome: Sendable {
    var changes: [TimelineChange] = []
    var itemCount = 0
    /// Whether nothing is missing any more at the place it was for.
    var isClosed = false
    /// Which of the page's events were not here yet.
    var taken: [Int] = []
  }

  /// Whether a page asked for there still belongs there.
  func isOpen(_ place: PagePlace) -> Bool {
    if let gap = place.gap { return gaps[gap] != nil }
    return head.token == place.edge.token && head.position == place.edge.position
  }

  /// What is in front of the newest events that follow one another without a gap; nil where it is being asked for, is in the store only,
  /// or is the start of the room.
  var lastEdge: PagePlace? {
    for item in items[..<remoteCount].reversed() {
      guard case .gap(let state) = item.content else { continue }
      guard let edge = gaps[item.id], state != .loading else { return nil }
      return PagePlace(gap: item.id, edge: edge)
    }
    guard storedBefore == nil, head.token != nil, backState == .idle || backState == .failed else { return nil }
    return PagePlace(gap: nil, edge: head)
  }

  /// Events behind the gap (nil: in front of everything), the newest first; `end` is where to go on, nil at the room's start.
  mutating func insertPage(
    _ events: [TimelineEvent], gap: ItemID?, end: ByteString?, ownUserID: UserID, _ ids: inout ItemIDs
  ) -> PageOutcome {
    var outcome = PageOutcome()
    guard let gapIndex = gap.map({ index(of: $0) }) ?? -1 else { return outcome }
    // What stood at the gap, as nothing nearer was known, stands at the newest item that the page brings.
    var run = OlderRun(unplaced: gap.map { gap in itemOfEvent.filter { $0.value == gap }.map { $0.key } } ?? unplacedEvents)
    for (i, event) in events.enumerated() {
      if let known = itemOfEvent[event.eventID] {
        if joins(known, gapIndex: gapIndex) {
          outcome.isClosed = true
          break
        }
        continue
      }
      outcome.taken.append(i)
      take(event, into: &run, &ids, &outcome)
    }
    if gap == nil { unplacedEvents = run.unplaced }
    insert(run, at: gapIndex + 1, ownUserID: ownUserID, &outcome)
    finishPage(gap: gap, gapIndex: gapIndex, end: end, &outcome)
    if gap != nil {
      let before = outcome.isClosed ? gapIndex - 1 : gapIndex
      for event in run.unplaced { itemOfEvent[event] = before >= 0 ? items[before].id : 0 }
    }
    return outcome
  }

  /// One event that is older than those of the run and not here yet.
  mutating func take(
    _ event: TimelineEvent, into run: inout OlderRun, _ ids: inout ItemIDs, _ outcome: inout PageOutcome
  ) {
    relations.take(event)
    guard case .item(let content, let replyTo) = event.kind, accepts(event) else {
      itemOfEvent[event.eventID] = 0
      run.unplaced.append(event.eventID)
      return
    }
    let item = makeItem(
      takeEcho(of: event, &outcome.changes) ?? formerItems[event.eventID] ?? ids.next(), event, content, replyTo)
    itemOfEvent[event.eventID] = item.id
    run.append(item, &itemOfEvent)
  }

  mutating func insert(_ run: OlderRun, at index: Int, ownUserID: UserID, _ outcome: inout PageOutcome) {
    outcome.itemCount = run.items.count
    if !run.items.isEmpty { place(run.items.reversed(), at: index, ownUserID: ownUserID, &outcome.changes) }
    renewTouched(except: index..<(index + run.items.count), ownUserID: ownUserID, &outcome.changes)
  }

  /// The identity of the echo whose event a limited sync left out and the page brings; the echo goes.
  private mutating func takeEcho(of event: TimelineEvent, _ changes: inout [TimelineChange]) -> ItemID? {
    guard let i = echoIndex(of: event) else { return nil }
    changes.append(.removed(i..<(i + 1)))
    relations.echoes.forget(items[i].id)
    return items.remove(at: i).id
  }

  /// Whether a known event lies in front of the gap, so that nothing is missing any more.
  private func joins(_ known: ItemID, gapIndex: Int) -> Bool {
    guard gapIndex >= 0 else { return false }
    return items[..<gapIndex].contains { $0.id == known }
  }

  private mutating func finishPage(gap: ItemID?, gapIndex: Int, end: ByteString?, _ outcome: inout PageOutcome) {
    guard let gap else {
      head.token = end
      backState = end == nil ? .atStart : .idle
      outcome.isClosed = end == nil
      return
    }
    if outcome.isClosed || end == nil {
      outcome.isClosed = true
      gaps[gap] = nil
      items.remove(at: gapIndex)
      remoteCount -= 1
      outcome.changes.append(.removed(gapIndex..<(gapIndex + 1)))
    } else {
      gaps[gap]?.token = end
      items[gapIndex].content = .gap(.idle)
      outcome.changes.append(.updated(at: gapIndex, items[gapIndex]))
    }
  }
}
