import JSON
import MatrixModel

/// A sync answer worked out but not shown: it becomes visible when its operations are stored.
struct PreparedSync: Sendable {
  var nextBatch: ByteString
  /// Number of the request that brought it.
  var number: Int
  private(set) var rooms: [PreparedRoom] = []
  private var roomIDs: Set<RoomID> = []
  /// nil where `m.direct` has not changed.
  var directRooms: DirectRooms?
  // People
  /// nil where `m.ignored_user_list` has not changed.
  var ignoredUsers: IgnoredUsers?
  var presence: [Event] = []
  /// What is reported.
  var accountData: [Event] = []
  var operations: [StoreOperation] = []
  /// Outbox entries whose event is among the events.
  var delivered: [OutboxEntry.ID: EventID] = [:]

  init(nextBatch: ByteString, number: Int) {
    self.nextBatch = nextBatch
    self.number = number
  }

  func contains(_ id: RoomID) -> Bool { roomIDs.contains(id) }

  mutating func append(_ room: PreparedRoom) {
    roomIDs.insert(room.id)
    rooms.append(room)
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
  var state: RoomState
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
  // People
  /// What is reported (`Client.reportsArrivals`).
  var arrivals: [Event] = []
  var accountData: [Event] = []
  var receiptReports: [ReceiptReport] = []
  /// The last message of somebody else.
  var lastForeign: EventID?
  /// Senders of messages; they have stopped writing.
  var senders: [UserID] = []
}

extension Client {
  /// nil where the answer is not what the spec says.
  func prepareSync(_ json: JSON, ownUserID: UserID) -> PreparedSync? {
    guard let nextBatch = json["next_batch"]?.text else { return nil }
    var sync = PreparedSync(nextBatch: nextBatch, number: syncLoop.started)
    if let data = json["account_data"]?["events"] {
      for event in data.elements { prepare(accountData: event, &sync) }
    }
    if let rooms = json["rooms"] {
      prepare(rooms["join"], as: .join, ownUserID, &sync)
      prepare(rooms["invite"], as: .invite, ownUserID, &sync)
      prepare(rooms["knock"], as: .knock, ownUserID, &sync)
      prepare(rooms["leave"], as: .leave, ownUserID, &sync)
    }
    if let events = json["presence"]?["events"] { sync.presence = events.elements.compactMap { Event($0) } }
    if let direct = sync.directRooms { prepare(direct, ownUserID, &sync) }
    var writer = JSONWriter()
    writer.object { $0.member("next_batch", nextBatch) }
    sync.operations.append(.put(key: StoreKey.sync, value: writer.bytes))
    return sync
  }

  private func prepare(accountData json: JSON, _ sync: inout PreparedSync) {
    guard let event = Event(json) else { return }
    if isReporting { sync.accountData.append(event) }
    switch event.type {
    case .direct: sync.directRooms = DirectRooms(content: event.content)
    case .ignoredUserList: sync.ignoredUsers = IgnoredUsers(content: event.content)
    default: return
    }
    sync.operations.append(.put(key: StoreKey.data(event.type), value: Array(event.content.bytes)))
  }

  private func prepare(_ section: JSON?, as membership: Membership, _ ownUserID: UserID, _ sync: inout PreparedSync) {
    guard let section else { return }
    for member in section.members {
      // A room that stands twice would be worked out from the same old state: the first counts.
      guard let id = RoomID(member.key), member.value.isObject, !sync.contains(id) else { continue }
      sync.append(prepare(id, member.value, as: membership, ownUserID, &sync))
    }
  }

  private func prepare(
    _ id: RoomID, _ json: JSON, as membership: Membership, _ ownUserID: UserID, _ sync: inout PreparedSync
  ) -> PreparedRoom {
    let old = rooms[id]
    var room = PreparedRoom(id: id, state: old?.state ?? RoomState(membership: membership))
    room.enter(membership, from: old?.membership)
    let direct = sync.directRooms ?? directRooms
    for events in [json["state"]?["events"], json["invite_state"]?["events"], json["knock_state"]?["events"]] {
      guard let events else { continue }
      for json in events.elements {
        if let event = Event(json) { room.state.apply(event, &room.delta, ownUserID: ownUserID) }
      }
    }
    if let timeline = json["timeline"] {
      // What a broken store does not take must stay in memory.
      let isInMemory = isStoreBroken || old.map { $0.hasTimeline } ?? keptTimelines.contains(id)
      prepare(timeline, isInMemory: isInMemory, ownUserID, &room, &sync)
    }
    room.prepareRest(json, ownUserID: ownUserID)
    if isReporting { room.noteReports(json) }
    let isDirectFromInvite = room.state.isDirectInvite && room.state.membership == .invite
    room.state.directUserID = direct.user(of: id) ?? (isDirectFromInvite ? room.state.inviter : nil)
    room.settle(ownUserID: ownUserID, from: old)
    room.appendRecords(to: &sync.operations)
    room.dropPeople(ownUserID: ownUserID, from: old)
    return room
  }

  /// Rooms that `m.direct` names or no longer names, beyond those of this sync.
  private func prepare(_ direct: DirectRooms, _ ownUserID: UserID, _ sync: inout PreparedSync) {
    for (id, room) in rooms where direct.user(of: id) != room.directUserID {
      if sync.contains(id) { continue }
      var prepared = PreparedRoom(id: id, state: room.state)
      prepared.state.directUserID = direct.user(of: id)
      prepared.settle(ownUserID: ownUserID, from: room)
      prepared.delta.aspects = [.settings, .avatar]
      prepared.appendRecords(to: &sync.operations)
      sync.append(prepared)
    }
  }

  private func prepare(
    _ timeline: JSON, isInMemory: Bool, _ ownUserID: UserID, _ room: inout PreparedRoom, _ sync: inout PreparedSync
  ) {
    room.isLimited = timeline["limited"]?.bool ?? false
    room.previousBatch = timeline["prev_batch"]?.text
    let ignored = (sync.ignoredUsers ?? ignoredUsers).users
    var parsed: [TimelineEvent] = []
    var count = 0
    let segment = Segment.record(isLimited: room.isLimited, token: room.previousBatch) { writer in
      for json in timeline["events"]?.elements ?? timeline.elements {
        let known = Event(json)
        if let known, known.stateKey != nil { room.state.apply(known, &room.delta, ownUserID: ownUserID) }
        guard let event = TimelineEvent(json, known) else { continue }
        writer.write(json)
        count += 1
        if !event.isHidden(from: ignored) { room.note(event) }
        if event.sender != ownUserID, event.isMessage, syncLoop.token != nil { room.lastForeign = event.eventID }
        if isReporting, let known, !event.isHidden(from: ignored) { room.arrivals.append(known) }
        if event.sender == ownUserID, let entry = outbox.entry(for: event, in: room.id) {
          sync.delivered[entry] = event.eventID
          sync.operations.append(.delete(key: StoreKey.outbox(entry)))
        }
        if isInMemory { parsed.append(event) }
      }
    }
    if isInMemory { room.events = parsed }
    if count > 0 || room.isLimited { room.addSegment(segment, eventCount: count, to: &sync.operations) }
  }
}
