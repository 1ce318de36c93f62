import JSON
import MatrixModel

/// Events of a room that call for notice and are not read. Spec: Client-Server API, "Receiving notifications".
public struct UnreadCounts: Sendable, Equatable {
  public struct Count: Sendable, Equatable {
    public internal(set) var notifications = 0
    /// Of these, the ones that name the reader or hold a keyword.
    public internal(set) var highlights = 0

    mutating func add(_ actions: PushActions) {
      notifications += 1
      if actions.highlights { highlights += 1 }
    }
  }

  /// What was said in no thread.
  public internal(set) var main = Count()
  /// By the root of the thread; those without anything unread are left out.
  public internal(set) var threads: [EventID: Count] = [:]

  public var total: Count {
    threads.values.reduce(into: main) { total, count in
      total.notifications = min(total.notifications + count.notifications, Int(JSON.countLimit))
      total.highlights = min(total.highlights + count.highlights, Int(JSON.countLimit))
    }
  }

  /// The same sum, with what is known of the threads, as far as it fits.
  func divided(by threads: [EventID: Count]) -> UnreadCounts {
    var counts = UnreadCounts()
    counts.main = total
    for thread in threads.keys.ordered() {
      guard let wanted = threads[thread], counts.main.notifications > 0 else { continue }
      let part = wanted.within(counts.main)
      counts.main.notifications -= part.notifications
      counts.main.highlights = min(counts.main.highlights - part.highlights, counts.main.notifications)
      counts.threads[thread] = part
    }
    return counts
  }

  /// Whether they call for notice.
  @discardableResult
  mutating func add(_ actions: PushActions, in thread: EventID?) -> Bool {
    guard actions.notifies else { return false }
    if let thread { threads[thread, default: Count()].add(actions) } else { main.add(actions) }
    return true
  }

  /// Until the rules have been asked.
  init(atMost messages: Int) { main = Count(notifications: messages, highlights: messages) }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("main", raw: main.record)
      for thread in threads.keys.ordered() {
        writer.key(thread)
        writer.raw((threads[thread] ?? Count()).record)
      }
    }
  }

  init() {}

  init(record: JSON) {
    for member in record.members {
      let count = Count(record: member.value)
      if member.isKey("main") { main = count } else if let thread = EventID(member.key) { threads[thread] = count }
    }
  }
}

extension RoomState {
  /// Whether the server cannot, or not by threads: what is said is encrypted, or told by sliding sync.
  var countsUnread: Bool { isEncrypted || told.counted != .byThread }

  /// As far as it is known what is unread.
  var unreadCounts: UnreadCounts {
    guard let unread else { return serverCounts }
    return isEncrypted || told.counted == .nothing ? unread : serverCounts.divided(by: unread.threads)
  }

  var serverCounts: UnreadCounts {
    var counts = UnreadCounts()
    counts.main = UnreadCounts.Count(notifications: notificationCount, highlights: highlightCount)
    counts.threads = threadCounts
    return counts
  }

  mutating func apply(unread main: UnreadCounts.Count, threads: JSON?, _ delta: inout RoomDelta) {
    let old = serverCounts
    notificationCount = main.notifications
    highlightCount = main.highlights
    threadCounts = [:]
    for thread in threads?.members.prefix(Limits.countedThreads).map({ $0 }) ?? [] {
      let count = UnreadCounts.Count(wire: thread.value)
      if let root = EventID(thread.key), count != UnreadCounts.Count() { threadCounts[root] = count }
    }
    if serverCounts != old { delta.aspects.insert(.unread) }
  }

  func writeUnread(to writer: inout JSONWriter) {
    if let unread {
      writer.key("unread")
      unread.write(to: &writer)
    }
    if isMiscounted { writer.member("recount", true) }
    if !threadCounts.isEmpty {
      writer.key("threads")
      serverCounts.write(to: &writer)
    }
    if !ownReceipts.all.isEmpty {
      writer.key("own_receipts")
      ownReceipts.write(to: &writer)
    }
  }

  mutating func readUnread(_ record: JSON) {
    unread = record["unread"].map { UnreadCounts(record: $0) }
    isMiscounted = record.bool("recount") ?? false
    threadCounts = record["threads"].map { UnreadCounts(record: $0).threads } ?? [:]
    ownReceipts = OwnReceipts(record: record["own_receipts"])
  }
}

extension UnreadCounts.Count {
  fileprivate var record: [UInt8] { Array("[\(notifications),\(highlights)]".utf8) }

  fileprivate init(record: JSON) {
    let numbers = record.elements.map { $0.count32 ?? 0 }
    notifications = numbers.first ?? 0
    highlights = numbers.count > 1 ? numbers[1] : 0
  }

  /// No more than that.
  fileprivate func within(_ bound: UnreadCounts.Count) -> UnreadCounts.Count {
    var count = UnreadCounts.Count()
    count.notifications = min(notifications, bound.notifications)
    count.highlights = min(highlights, bound.highlights, count.notifications)
    return count
  }

  /// Of a sync's `unread_notifications`.
  init(wire: JSON) {
    notifications = wire["notification_count"]?.count32 ?? 0
    highlights = wire["highlight_count"]?.count32 ?? 0
  }
}

/// How far the user has read by their own receipts: public and private ones, of the room and of its threads.
struct OwnReceipts: Sendable, Equatable {
  struct Receipt: Sendable, Equatable {
    let isPrivate: Bool
    /// nil for the whole room, `main` or a thread's root.
    let thread: ByteString?
    var event: EventID
  }

  private(set) var all: [Receipt] = []

  /// Whether that is news.
  mutating func set(_ receipt: Receipt) -> Bool {
    let i = all.firstIndex { $0.isPrivate == receipt.isPrivate && $0.thread == receipt.thread }
    if let i {
      if all[i].event == receipt.event { return false }
      all.remove(at: i)
    }
    all.append(receipt)
    if all.count > Limits.ownReceipts { all.remove(at: all.firstIndex { $0.thread != nil } ?? 0) }
    return true
  }

  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for receipt in all {
        writer.array { writer in
          writer.write(receipt.isPrivate)
          writer.write(receipt.event)
          if let thread = receipt.thread { writer.write(thread) }
        }
      }
    }
  }

  init() {}

  init(record: JSON?) {
    for json in record?.elements.prefix(Limits.ownReceipts).map({ $0 }) ?? [] {
      let parts = Array(json.elements)
      guard parts.count >= 2, let event = EventID(parts[1]) else { continue }
      all.append(Receipt(isPrivate: parts[0].bool ?? false, thread: parts.count > 2 ? parts[2].text : nil, event: event))
    }
  }
}

/// Counts from the newest event backwards, until everything before has been read.
struct UnreadCounting: Sendable {
  private(set) var counts = UnreadCounts()
  /// Whether all that is older has been read.
  private(set) var isAtEnd = false
  private let receipts: [OwnReceipts.Receipt]
  private let ownUserID: UserID
  private var readThreads: Set<ByteString> = []
  private var redacted: Set<EventID> = []

  /// - Parameter ahead: an event that was read and that no receipt of the server's speaks of yet.
  init(_ receipts: OwnReceipts, ahead: EventID?, ownUserID: UserID) {
    self.receipts =
      receipts.all + (ahead.map { [OwnReceipts.Receipt(isPrivate: false, thread: nil, event: $0)] } ?? [])
    self.ownUserID = ownUserID
  }

  /// Whether it counts.
  ///
  /// - Parameters:
  ///   - thread: the root of the one it belongs to.
  ///   - actions: what the push rules say to it.
  @discardableResult
  mutating func add(
    _ event: TimelineEvent, _ source: Event?, in thread: EventID?, _ actions: () -> PushActions?
  ) -> Bool {
    for receipt in receipts where receipt.event == event.eventID {
      if let thread = receipt.thread { readThreads.insert(thread) } else { isAtEnd = true }
    }
    if isAtEnd { return false }
    if case .redaction(let target) = event.kind { redacted.insert(target) }
    if event.sender == ownUserID {
      // A changed profile shows as member events in every room, and nobody has read anything by that.
      if let source, source.isProfileChange(of: ownUserID) { return false }
      if let thread { readThreads.insert(thread.text) } else { isAtEnd = true }
      return false
    }
    guard !readThreads.contains(thread?.text ?? "main"), !redacted.contains(event.eventID),
      !(source?.isRedacted ?? false), let actions = actions()
    else { return false }
    return counts.add(actions, in: thread)
  }
}

extension Event {
  /// Whether it is a member event of that user by which nobody comes into the room.
  func isProfileChange(of user: UserID) -> Bool {
    guard type == .member, stateKey == user.text, Membership(content["membership"]) == .join else { return false }
    return Membership(unsigned?["prev_content"]?["membership"]) == .join
  }
}
