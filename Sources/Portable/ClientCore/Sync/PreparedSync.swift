import JSON
import MatrixModel

/// A sync answer worked out but not shown: it becomes visible when its operations are stored.
struct PreparedSync: Sendable {
  /// Where the next one goes on.
  var position: SyncPosition
  /// Number of the request that brought it.
  var number: Int
  private(set) var rooms: [PreparedRoom] = []
  private var roomIDs: Set<RoomID> = []
  /// nil where `m.direct` has not changed.
  var directRooms: DirectRooms?
  var breadcrumbs: Breadcrumbs?
  /// nil where `m.push_rules` has not changed.
  var pushRules: PushRuleSet?
  /// nil where they have not changed.
  var notificationWishes: NotificationWishes?
  /// By the rules as they are after it; made with the first room.
  var verdicts: Verdicts?
  // People
  /// nil where `m.ignored_user_list` has not changed.
  var ignoredUsers: IgnoredUsers?
  var presence: [Event] = []
  /// What is reported.
  var accountData: [Event] = []
  var operations: [StoreOperation] = []
  /// Outbox entries whose event is among the events.
  var delivered: [OutboxEntry.ID: EventID] = [:]
  /// How many rooms the account has; nil where the sync does not say.
  var roomCount: Int?

  init(position: SyncPosition, number: Int) {
    self.position = position
    self.number = number
  }

  func contains(_ id: RoomID) -> Bool { roomIDs.contains(id) }

  mutating func append(_ room: PreparedRoom) {
    roomIDs.insert(room.id)
    rooms.append(room)
  }

  /// What the server counts in a room of which this is told; nil where that does not say.
  func counted(_ news: RoomNews) -> ToldRoom.Counted? {
    guard position.kind == .sliding else { return .byThread }
    guard news.notifications != nil else { return nil }
    return position.countsUnread ? .together : .nothing
  }

  /// Gives a room its place in the list.
  mutating func settle(_ index: Int, activity: Int64) {
    rooms[index].state.lastActivity = activity
    operations.append(
      .put(key: StoreKey.room(rooms[index].id), value: rooms[index].state.record(of: rooms[index].id)))
  }
}

extension PreparedSync {
  /// The store has not taken it: the events, which nobody wanted in memory, are nowhere else.
  mutating func keepEvents() {
    var records: [ByteString: [UInt8]] = [:]
    for case .put(let key, let value) in operations where key.hasPrefix("t/") { records[key] = value }
    for i in rooms.indices where rooms[i].events == nil {
      guard let position = rooms[i].position else { continue }
      let key = StoreKey.segment(position, of: rooms[i].id)
      rooms[i].events = records[key].flatMap { Segment(StoreRecord(key: key, value: $0))?.events }
    }
  }
}

struct PreparedRoom: Sendable {
  let id: RoomID
  @Boxed var state: RoomState
  var delta = RoomDelta()
  /// nil where the timeline is not in memory.
  var events: [TimelineEvent]?
  var isLimited = false
  var previousBatch: ByteString?
  /// Of its segment; nil where the sync brought none.
  var position: SegmentPosition?
  /// Whether the room's line wants members that are in the store only.
  var needsPeople = false
  /// nil without news.
  var typing: [UserID]?
  /// Events of a room that counts its unread ones here.
  var news: [(event: TimelineEvent, source: Event)] = []
  var wantsRecount = false
  // People
  /// What is reported (`Client.reportsArrivals`).
  var arrivals: [Event] = []
  var accountData: [Event] = []
  var receiptReports: [ReceiptReport] = []
  /// Of the account's data.
  var drafts: [Event] = []
  /// The last message of somebody else.
  var lastForeign: EventID?
  /// Senders of messages; they have stopped writing.
  var senders: [UserID] = []
  /// How many of the events at the end happened since the last sync.
  var liveCount = 0
  /// When the first of the events of a room that is told whole was sent.
  var oldestEventMilliseconds: Int64?
  /// The timeline as it was told, where it goes back behind what was known of the room's end, and where to page on from there.
  var older: (events: [JSON], end: ByteString?)?

  init(id: RoomID, state: Boxed<RoomState>) {
    self.id = id
    _state = state
  }

  mutating func apply(_ event: Event, ownUserID: UserID) {
    _state.wrappedValue.apply(event, &delta, ownUserID: ownUserID)
  }

  mutating func redactState(_ event: EventID) { _state.wrappedValue.apply(redactionOf: event, &delta) }

  mutating func takeMark(_ event: Event) { _state.wrappedValue.marks.take(event, &delta) }

  mutating func take(joined: Int?, invited: Int?) {
    _state.wrappedValue.take(joined: joined, invited: invited, &delta)
  }

  mutating func apply(heroes: JSON) { _state.wrappedValue.apply(heroes: heroes, &delta) }

  mutating func apply(unread: UnreadCounts.Count, threads: JSON?) {
    _state.wrappedValue.apply(unread: unread, threads: threads, &delta)
  }

  mutating func apply(summary: JSON) { _state.wrappedValue.apply(summary: summary, &delta) }

  mutating func apply(receipts: JSON, ownUserID: UserID) {
    _state.wrappedValue.apply(receipts: receipts, &delta, ownUserID: ownUserID)
  }
}
