import JSON
import MatrixModel

/// Threads: what was said there, as far as it is known, for the root's summary.
extension Relations {
  struct ThreadReplies: Sendable {
    var bundle: TimelineEvent.BundledThread?
    /// Redacted since the server counted.
    var goneCount = 0
    var isLatestGone = false
    /// In order of time.
    var replies: [ThreadSummary.Reply] = []
    var known: Set<EventID> = []

    /// Whether the server had not counted it.
    func isNewer(_ reply: ThreadSummary.Reply) -> Bool {
      guard let last = bundle?.latest else { return false }
      return (reply.timestampMilliseconds, reply.eventID) > (last.timestampMilliseconds, last.eventID)
    }

    /// False where it is here already.
    mutating func insert(_ reply: ThreadSummary.Reply) -> Bool {
      guard known.insert(reply.eventID).inserted else { return false }
      let before = replies.lastIndex {
        ($0.timestampMilliseconds, $0.eventID) <= (reply.timestampMilliseconds, reply.eventID)
      }
      replies.insert(reply, at: before.map { $0 + 1 } ?? 0)
      return true
    }

    func replies(by users: Set<UserID>) -> [EventID] {
      var events = replies.filter { users.contains($0.sender) }.map { $0.eventID }
      if let latest = bundle?.latest, users.contains(latest.sender) { events.append(latest.eventID) }
      return events
    }

    mutating func drop(_ event: EventID) {
      let isLatest = bundle?.latest?.eventID == event
      let reply = replies.firstIndex { $0.eventID == event }
      if isLatest { isLatestGone = true }
      if isLatest || reply.map({ !isNewer(replies[$0]) }) ?? true { goneCount += 1 }
      if let reply { replies.remove(at: reply) }
    }
  }

  mutating func take(_ bundle: TimelineEvent.BundledThread, of root: EventID) {
    // A copy from a page asked for earlier says less.
    if let known = about(root)?.thread.bundle?.latest, let new = bundle.latest,
      (known.timestampMilliseconds, known.eventID) > (new.timestampMilliseconds, new.eventID)
    {
      return
    }
    let isLatestGone = bundle.latest.map { isRedacted($0.eventID) } ?? false
    change(root) { about in
      about.thread.bundle = bundle
      about.thread.goneCount = 0
      about.thread.isLatestGone = isLatestGone
    }
    if let latest = bundle.latest { rootOfReply[latest.eventID] = root }
    touch(root)
  }

  mutating func takeReply(_ event: TimelineEvent) {
    guard let root = event.threadRoot, case .item(let content, _) = event.kind else { return }
    if case .redacted = content { return }
    let reply = ThreadSummary.Reply(
      eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: content)
    var isNew = false
    change(root) { isNew = $0.thread.insert(reply) }
    guard isNew else { return }
    rootOfReply[event.eventID] = root
    touch(root)
  }

  mutating func dropReply(_ event: EventID) {
    guard let root = rootOfReply[event] else { return }
    change(root) { $0.thread.drop(event) }
    touch(root)
  }

  mutating func summary(of root: EventID, rootSender: UserID, ownUserID: UserID) -> ThreadSummary? {
    guard let thread = about(root)?.thread else { return nil }
    let counted = thread.bundle.map { max(0, $0.count - thread.goneCount) } ?? 0
    let newer = thread.replies.reversed().prefix { thread.isNewer($0) }.count
    let count = max(counted + newer, thread.replies.count)
    var latest = thread.replies.last
    if let bundled = thread.bundle?.latest, newer == 0, !thread.isLatestGone { latest = bundled }
    if let reply = latest { latest?.content = shown(reply, ownUserID: ownUserID) }
    guard count > 0 || latest != nil else { return nil }
    let isParticipating =
      rootSender == ownUserID || thread.bundle?.isParticipating ?? false
      || thread.replies.contains { $0.sender == ownUserID }
    return ThreadSummary(count: count, latest: latest, isParticipating: isParticipating)
  }

  /// As its item would look.
  private mutating func shown(_ reply: ThreadSummary.Reply, ownUserID: UserID) -> TimelineItem.Content {
    var item = TimelineItem(
      id: 0, eventID: reply.eventID, sender: reply.sender, timestampMilliseconds: reply.timestampMilliseconds,
      content: reply.content, delivery: .received)
    decorate(&item, ownUserID: ownUserID)
    return item.content
  }
}
