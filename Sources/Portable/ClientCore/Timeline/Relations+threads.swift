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
  }

  mutating func take(_ bundle: TimelineEvent.BundledThread, of root: EventID) {
    // A copy from a page asked for earlier says less.
    if let known = threads[root]?.bundle?.latest, let new = bundle.latest,
      (known.timestampMilliseconds, known.eventID) > (new.timestampMilliseconds, new.eventID)
    {
      return
    }
    let isLatestGone = bundle.latest.map { isRedacted($0.eventID) } ?? false
    threads[root, default: ThreadReplies()].bundle = bundle
    threads[root]?.goneCount = 0
    threads[root]?.isLatestGone = isLatestGone
    if let latest = bundle.latest { rootOfReply[latest.eventID] = root }
    touch(root)
  }

  mutating func takeReply(_ event: TimelineEvent) {
    guard let root = event.threadRoot, case .item(let content, _) = event.kind else { return }
    if case .redacted = content { return }
    guard threads[root, default: ThreadReplies()].known.insert(event.eventID).inserted else { return }
    let reply = ThreadSummary.Reply(
      eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: content)
    rootOfReply[event.eventID] = root
    var i = threads[root]?.replies.count ?? 0
    while i > 0, let before = threads[root]?.replies[i - 1],
      (before.timestampMilliseconds, before.eventID) > (reply.timestampMilliseconds, reply.eventID)
    {
      i -= 1
    }
    threads[root]?.replies.insert(reply, at: i)
    touch(root)
  }

  mutating func dropReply(_ event: EventID) {
    guard let root = rootOfReply[event], let thread = threads[root] else { return }
    let isLatest = thread.bundle?.latest?.eventID == event
    let reply = thread.replies.firstIndex { $0.eventID == event }
    if isLatest { threads[root]?.isLatestGone = true }
    if isLatest || reply.map({ !thread.isNewer(thread.replies[$0]) }) ?? true { threads[root]?.goneCount += 1 }
    if let reply { threads[root]?.replies.remove(at: reply) }
    touch(root)
  }

  mutating func forgetReplies(of users: Set<UserID>) {
    var events: [EventID] = []
    for thread in threads.values {
      for reply in thread.replies where users.contains(reply.sender) { events.append(reply.eventID) }
      if let latest = thread.bundle?.latest, users.contains(latest.sender) { events.append(latest.eventID) }
    }
    for event in Set(events).sorted() { dropReply(event) }
  }

  mutating func summary(of root: EventID, rootSender: UserID, ownUserID: UserID) -> ThreadSummary? {
    guard let thread = threads[root] else { return nil }
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
