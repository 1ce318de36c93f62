import JSON
import MatrixModel

/// Which thread an event of a room belongs to: the one it was said in, or, for what says something about another event (a reaction, an edit),
/// that event's. Spec: "Threaded read receipts".
struct ThreadRoots: Sendable {
  private let records: [StoreRecord]
  /// Of the events that were said in one; nil until somebody asks.
  private var roots: [EventID: EventID]?

  /// - Parameter records: segments of the timeline.
  init(_ records: [StoreRecord]) { self.records = records }

  init(_ events: [(event: TimelineEvent, source: Event)]) {
    records = []
    roots = [:]
    for (event, _) in events { roots?[event.eventID] = event.threadRoot }
  }

  mutating func root(of event: TimelineEvent) -> EventID? {
    if let root = event.threadRoot { return root }
    guard let target = event.target else { return nil }
    if roots == nil { read() }
    return roots?[target]
  }

  private mutating func read() {
    var found: [EventID: EventID] = [:]
    for record in records {
      guard let events = Answer.parse(record.value)?["events"], events.isArray else { continue }
      for json in events.elements {
        if let event = TimelineEvent(json), let root = event.threadRoot { found[event.eventID] = root }
      }
    }
    roots = found
  }
}

extension TimelineEvent {
  /// What it says something about without a row of its own.
  var target: EventID? {
    switch kind {
    case .edit(let target, _), .reaction(let target, _), .vote(let target, _), .pollEnd(let target), .position(let target, _),
      .reference(let target):
      target
    case .item, .redaction, .callSign, .verificationSign, .liveLocationEnd, .hidden: nil
    }
  }
}
