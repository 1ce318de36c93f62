import JSON
import MatrixModel

/// Older events: a page in front of the first item or inside a gap.
extension Timeline {
  /// How many items a page brought and whether the place it was for is now closed.
  struct PageOutcome: Sendable {
    var changes: [TimelineChange] = []
    var itemCount = 0
    var isClosed = false
  }

  /// Events behind `gap` (nil: in front of everything), the newest first; `end` is where to go on, nil at the room's start.
  mutating func insertPage(
    _ events: [TimelineEvent], gap: ItemID?, end: ByteString?, ownUserID: UserID, _ ids: inout ItemIDs
  ) -> PageOutcome {
    var outcome = PageOutcome()
    guard let gapIndex = gap.map({ index(of: $0) }) ?? -1 else { return outcome }
    var run: [TimelineItem] = []
    var hiddenEvents: [EventID] = []
    for event in events {
      if let known = itemOfEvent[event.eventID] {
        if joins(known, gapIndex: gapIndex) {
          outcome.isClosed = true
          break
        }
        continue
      }
      relations.take(event)
      guard case .item(let content, let replyTo) = event.kind, accepts(event) else {
        itemOfEvent[event.eventID] = 0
        hiddenEvents.append(event.eventID)
        continue
      }
      let item = makeItem(takeEcho(of: event, &outcome.changes) ?? ids.next(), event, content, replyTo)
      itemOfEvent[event.eventID] = item.id
      for hidden in hiddenEvents { itemOfEvent[hidden] = item.id }
      hiddenEvents = []
      run.append(item)
    }
    outcome.itemCount = run.count
    if !run.isEmpty {
      run.reverse()
      place(run, at: gapIndex + 1, ownUserID: ownUserID, &outcome.changes)
    }
    renewTouched(
      except: (gapIndex + 1)..<(gapIndex + 1 + run.count), ownUserID: ownUserID, &outcome.changes)
    finishPage(gap: gap, gapIndex: gapIndex, end: end, &outcome)
    return outcome
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
      headToken = end
      backState = end == nil ? .atStart : .idle
      outcome.isClosed = end == nil
      return
    }
    if outcome.isClosed || end == nil {
      outcome.isClosed = true
      gapTokens[gap] = nil
      items.remove(at: gapIndex)
      remoteCount -= 1
      outcome.changes.append(.removed(gapIndex..<(gapIndex + 1)))
    } else {
      gapTokens[gap] = end
      items[gapIndex].content = .gap(.idle)
      outcome.changes.append(.updated(at: gapIndex, items[gapIndex]))
    }
  }
}
