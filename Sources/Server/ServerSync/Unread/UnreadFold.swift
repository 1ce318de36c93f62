import JSON
import MatrixModel
import ServerRooms

/// The counting of one user's unread events of one room, carried on from event to event.
///
/// An event counts when the user's push rules notify of it, no receipt covers it and it is not redacted. What the user sends counts as having
/// read everything before it: all of the room, or of the thread it is sent to.
struct UnreadFold: Sendable {
  /// The receipts it stands on: when they move, it starts over.
  let receipts: ReadPositions
  /// Of the push rules it counted by.
  let rules: Int64
  /// Position of the last event counted.
  private(set) var position: Int64
  private(set) var counts: UnreadCounts
  /// Events counted since the last checkpoint.
  var sinceCheckpoint = 0
  /// Whether an event was a redaction: what it redacts may have been counted before.
  var hasSeenRedaction = false

  init(receipts: ReadPositions, rules: Int64, from position: Int64, counts: UnreadCounts = UnreadCounts()) {
    self.receipts = receipts
    self.rules = rules
    self.position = position
    self.counts = counts
  }

  mutating func add(
    _ event: StoredEvent, for user: UserID, _ actions: @autoclosure () -> PushActions?
  ) {
    position = event.position
    sinceCheckpoint += 1
    if event.type == .redaction { hasSeenRedaction = true }
    let thread = event.thread?.text ?? UnreadCounts.mainThread
    if event.sender == user {
      // A changed profile shows as member events in every room, and nobody has read anything by that.
      if event.type == .member, event.stateKey == user.text, !event.isJoining { return }
      if event.isSignalling { return }
      if event.thread == nil { counts = UnreadCounts() } else { counts.threads[thread] = nil }
      return
    }
    guard !receipts.hasRead(event.position, in: thread), event.redactedBecause == nil, let actions = actions() else { return }
    counts.add(actions, in: thread)
  }
}

extension StoredEvent {
  /// Whether it belongs to a call: who answers one has not read the room.
  fileprivate var isSignalling: Bool {
    type.text.hasPrefix("m.call.") || type.text.hasPrefix("org.matrix.msc3401.call.")
  }

  /// Whether it is a member event by which someone comes into the room.
  package var isJoining: Bool {
    guard type == .member, content["membership"]?.isString("join") ?? false else { return false }
    return replaced?.membership != .join
  }
}
