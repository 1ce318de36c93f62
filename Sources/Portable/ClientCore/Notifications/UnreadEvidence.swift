import JSON
import MatrixModel

/// Why a room counts as unread: what was said since one read last, and which push rule makes each of it count.
///
/// It is made by what makes the figure itself (`UnreadCounting`), from the events that this device has. Where the server counts, its figure can be
/// larger: events behind a gap are not here yet.
public struct UnreadEvidence: Sendable {
  /// Of the events that are named.
  public static let itemsLimit = 100

  public struct Item: Sendable {
    public let eventID: EventID
    public let sender: UserID
    public let timestampMilliseconds: Int64
    /// What is said; nil for what says something about another event: an edit, a reaction.
    public let content: TimelineItem.Content?
    /// The root of the thread it was said in.
    public let threadRoot: EventID?
    /// Of the rule that matched: one that every account has (`.m.rule.message`, ...), a keyword's, a room's, a person's.
    public let ruleID: ByteString
    public let isHighlight: Bool
  }

  /// The newest first.
  public internal(set) var items: [Item] = []
  /// Of all, also those that are not named.
  public internal(set) var counts = UnreadCounts()
  /// Everything up to that event has been read: the user's receipt names it, or the user wrote it. nil if it lies further back than what
  /// is stored.
  public internal(set) var readUpTo: EventID?
  /// When that event was sent, in milliseconds since 1970.
  public internal(set) var readUntilMilliseconds: Int64?
}

extension UnreadEvidence.Item {
  init(_ event: TimelineEvent, in root: EventID?, by rule: PushRule) {
    eventID = event.eventID
    sender = event.sender
    timestampMilliseconds = event.timestampMilliseconds
    if case .item(let content, _) = event.kind { self.content = content } else { content = nil }
    threadRoot = root
    ruleID = rule.ruleID
    isHighlight = rule.actions.highlights
  }
}

extension Client {
  mutating func explainUnread(_ id: RoomID, _ command: CommandID) {
    guard rooms[id]?.membership == .join else { return finish(command, .failed(.unknownRoom)) }
    let range = StoreRange(prefix: StoreKey.timeline(of: id), isDescending: true, limit: Limits.countedSegments)
    load(range, .unreadEvidence(id, command))
  }

  mutating func unreadEvidenceLoaded(_ id: RoomID, _ records: [StoreRecord], _ command: CommandID) {
    let reading = rooms[id]?.reading
    let ahead = reading?.localCount == nil ? nil : reading?.fullyRead
    guard let evidence = unreadEvidence(id, records, ahead: ahead, limit: UnreadEvidence.itemsLimit) else {
      return finish(command, .failed(.unknownRoom))
    }
    finish(command, .unread(evidence))
  }

  /// Nobody answers any more.
  mutating func endUnreadEvidence(with error: ClientError) {
    var ended: [CommandID] = []
    pending.loads.removeAll {
      guard case .unreadEvidence(_, let command) = $0 else { return false }
      ended.append(command)
      return true
    }
    for command in ended { finish(command, .failed(error)) }
  }
}
