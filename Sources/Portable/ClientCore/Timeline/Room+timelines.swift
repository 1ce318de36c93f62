import JSON
import MatrixModel

extension Room {
  func timeline(_ focus: TimelineKey.Focus) -> Timeline? { focus == .live ? timeline : focused[focus] }

  /// What no view is told of by steps.
  mutating func change(_ focus: TimelineKey.Focus, _ body: (inout Timeline) -> Void) {
    if focus == .live {
      body(&timeline)
    } else if focused[focus] != nil {
      body(&focused[focus, default: Timeline(focus)])
    }
  }

  /// Whether anybody wants to see the room's events.
  var hasTimeline: Bool { timeline.loadState != .unloaded || !focused.isEmpty }

  /// When the next live location in memory expires, in milliseconds since 1970.
  var nextExpiry: Int64? {
    var next = timeline.relations.expiries.values.min()
    for (_, timeline) in focused {
      guard let other = timeline.relations.expiries.values.min() else { continue }
      next = min(next ?? other, other)
    }
    return next
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
    if case .thread = self { return json["next_batch"]?.text }
    return json["end"]?.text
  }
}
