import JSON
import MatrixModel

extension Room {
  func timeline(_ focus: TimelineKey.Focus) -> Timeline? {
    focus == .live ? timeline : index(of: focus).map { focused[$0].wrappedValue }
  }

  /// Of those that are open beside the live one.
  var focuses: [TimelineKey.Focus] { focused.map { $0.wrappedValue.focus } }

  /// Where it is among those that are open beside the live one.
  private func index(of focus: TimelineKey.Focus) -> Int? { focused.firstIndex { $0.wrappedValue.focus == focus } }

  /// Opens it, or puts it in the place of the one there was.
  mutating func open(_ timeline: Timeline) {
    _ = close(timeline.focus)
    focused.append(Boxed(wrappedValue: timeline))
  }

  /// Whether it was open.
  mutating func close(_ focus: TimelineKey.Focus) -> Bool {
    guard let i = index(of: focus) else { return false }
    focused.remove(at: i)
    return true
  }

  /// The first item that one of the timelines has, the live one asked first.
  func shown(_ index: (Timeline) -> Int?) -> TimelineItem? {
    if let i = index(timeline) { return timeline.items[i] }
    for timeline in focused {
      if let i = index(timeline.wrappedValue) { return timeline.wrappedValue.items[i] }
    }
    return nil
  }

  /// The event by which that user reacted so, where one of the timelines knows it.
  func reaction(_ key: ByteString, to event: EventID, by user: UserID) -> EventID? {
    if let known = timeline.relations.reaction(key, to: event, by: user) { return known }
    for timeline in focused {
      if let known = timeline.wrappedValue.relations.reaction(key, to: event, by: user) { return known }
    }
    return nil
  }

  /// What no view is told of by steps.
  mutating func change(_ focus: TimelineKey.Focus, _ body: (inout Timeline) -> Void) {
    if focus == .live {
      body(&timeline)
    } else if let i = index(of: focus) {
      body(&focused[i].wrappedValue)
    }
  }

  /// Whether anybody wants to see the room's events.
  var hasTimeline: Bool { timeline.loadState != .unloaded || !focused.isEmpty }

  /// When the next live location in memory expires, in milliseconds since 1970.
  var nextExpiry: Int64? {
    var next = timeline.relations.expiries.values.min()
    for timeline in focused {
      guard let other = timeline.wrappedValue.relations.expiries.values.min() else { continue }
      next = min(next ?? other, other)
    }
    return next
  }
}

extension Client {
  /// Whether somebody shows it.
  package func isOpen(_ key: TimelineKey) -> Bool {
    key.focus == .live ? openRooms.contains(key.room) : rooms[key.room]?.timeline(key.focus) != nil
  }
}

extension Timeline {
  /// A thread begins with one; the live timeline with what the store holds.
  var takesPages: Bool { loadState == .loaded || (loadState == .loading && focus != .live) }
}

extension TimelineKey.Focus {
  /// Where a page says one goes on; nil at the end.
  func pageEnd(_ json: JSON) -> ByteString? {
    // Without one the server is at the start.
    if case .thread = self { return json.text("next_batch") }
    return json.text("end")
  }
}
