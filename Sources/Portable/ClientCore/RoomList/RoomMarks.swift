import EventContent
import JSON
import MatrixModel

/// What the account keeps of a room for itself: its tags, whether it is marked as unread, whether it is hidden.
struct RoomMarks: Sendable, Equatable {
  /// In the order of their names.
  var tags: [RoomTag] = []
  var isMarkedUnread = false
  /// Where it is marked from a message on: what stands before that.
  var unreadAfter: EventID?
  /// Hidden until somebody says something. Documentation/Extensions.md, `martlet.hide`.
  var isHidden = false
  /// Messages that are not shown any more, the newest last. Documentation/Extensions.md, `martlet.removed`.
  var removed: [EventID] = []
  /// Messages that are kept as bookmarks, the one saved last at the end. MSC2437
  var saved: [SavedEvent] = []
  /// Whether the account has `m.tagged_events` for the room; nil if it was stored before this was noted.
  var hasTaggedEvents: Bool? = false
  /// Milliseconds since 1970. Documentation/Extensions.md, `martlet.snooze`.
  var snoozedUntil: Int64 = 0
  /// Of a space: its place among the others, as set by the user; nil if not set.
  var spaceOrder: ByteString?

  /// Takes account data of the room in.
  mutating func take(_ event: Event, _ delta: inout RoomDelta) {
    let old = self
    switch event.type {
    case .tag: tags = RoomTag.tags(event.content)
    case .markedUnread:
      isMarkedUnread = event.content.bool("unread") ?? false
      unreadAfter = EventID(event.content[RoomMarks.unreadAfterKey])
      delta.isMarkTold = true
    case .hidden: isHidden = event.content.integer("before") != nil
    case .removed:
      removed = RoomMarks.removed(event.content["events"])
    case TaggedEvents.type:
      saved = SavedEvent.list(TaggedEvents(event.content))
      hasTaggedEvents = true
    case .snooze: snoozedUntil = event.content.snoozedUntil
    case .spaceOrder: spaceOrder = RoomMarks.spaceOrder(event.content["order"])
    default: return
    }
    if tags != old.tags || isHidden != old.isHidden || spaceOrder != old.spaceOrder { delta.aspects.insert(.tags) }
    if snoozedUntil != old.snoozedUntil { delta.aspects.insert(.settings) }
    if isMarkedUnread != old.isMarkedUnread { delta.aspects.insert(.unread) }
  }

  private static func spaceOrder(_ order: JSON?) -> ByteString? {
    order?.text.flatMap { !$0.isEmpty && SpaceOrder.isValid($0) ? $0 : nil }
  }

  /// Each once.
  private static func removed(_ listed: JSON?) -> [EventID] {
    var (events, seen): ([EventID], Set<EventID>) = ([], [])
    guard let listed else { return [] }
    for element in listed.elements.prefix(Limits.removedEvents) {
      if let event = EventID(element), seen.insert(event).inserted { events.append(event) }
    }
    return events
  }

  /// In `m.marked_unread`. Documentation/Extensions.md
  static var unreadAfterKey: StaticString { "martlet.read" }

  func tag(_ name: ByteString) -> RoomTag? { tags.first { $0.name == name } }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    if !tags.isEmpty {
      writer.key("tags")
      writer.object { writer in
        for tag in tags {
          writer.key(tag.name)
          writer.raw(tag.content)
        }
      }
    }
    if isMarkedUnread { writer.member("marked_unread", true) }
    if let unreadAfter { writer.member("unread_after", unreadAfter) }
    if isHidden { writer.member("hidden", true) }
    if !removed.isEmpty {
      writer.key("removed")
      writer.array { writer in for event in removed { writer.write(event) } }
    }
    if !saved.isEmpty {
      writer.key("saved")
      writer.object { writer in for saved in saved { saved.write(to: &writer) } }
    }
    if let hasTaggedEvents { writer.member("has_tagged", hasTaggedEvents) }
    if snoozedUntil > 0 { writer.member("snoozed_until", snoozedUntil) }
    if let spaceOrder { writer.member("space_order", spaceOrder) }
  }

  init() {}

  init(record: JSON) {
    if let stored = record["tags"] { tags = RoomTag.tags(stored) }
    isMarkedUnread = record.bool("marked_unread") ?? false
    unreadAfter = EventID(record["unread_after"])
    isHidden = record.bool("hidden") ?? false
    removed = RoomMarks.removed(record["removed"])
    saved = record["saved"].map { SavedEvent.list(record: $0) } ?? []
    hasTaggedEvents = saved.isEmpty ? record.bool("has_tagged") : true
    snoozedUntil = record.integer("snoozed_until") ?? 0
    spaceOrder = RoomMarks.spaceOrder(record["space_order"])
  }
}

extension Room {
  /// In the order of their names.
  public var tags: [RoomTag] { state.marks.tags }
  public func tag(_ name: ByteString) -> RoomTag? { state.marks.tag(name) }
  /// The messages that the account has saved, the one saved last at the end.
  public var savedEvents: [SavedEvent] { state.marks.saved }
  /// Whether the account has tagged messages of the room (`TaggedEvents`), as far as the syncs have told; nil if nobody knows.
  package var hasTaggedEvents: Bool? { state.marks.hasTaggedEvents }
  public func hasSaved(_ event: EventID) -> Bool { state.marks.saved.contains { $0.event == event } }
  public var isFavourite: Bool { tag(RoomTag.favourite) != nil }
  public var isLowPriority: Bool { tag(RoomTag.lowPriority) != nil }
  public var isServerNotice: Bool { tag(RoomTag.serverNotice) != nil }
  /// Put aside to be read later (`ReadingCommand.markUnread`), whatever its receipts say. Spec: "Unread markers".
  public var isMarkedUnread: Bool { unreadMark?.isMarked ?? state.marks.isMarkedUnread }
  /// Where it was marked from a message on, the event before that. Read markers of servers never go back.
  public var unreadAfter: EventID? {
    guard isMarkedUnread else { return nil }
    return unreadMark == nil ? state.marks.unreadAfter : unreadMark?.after
  }
  /// Whether there are messages that call for notice, or it is marked as unread.
  public var isUnread: Bool { notificationCount > 0 || isMarkedUnread }
  /// Out of the lists until somebody else says something, on servers that do so (`Query.hide`).
  public var isHidden: Bool { state.marks.isHidden }
  /// The end of the time without notifications from this room, in milliseconds since 1970 (`Query.snooze`).
  public var snoozedUntilMilliseconds: Int64 { state.marks.snoozedUntil }

  /// `isMarkedUnread` as it is on its way to the server.
  struct UnreadMark: Sendable {
    let isMarked: Bool
    let after: EventID?
    /// The last sync that went out before the server had it; nil until it has.
    var afterSync: Int?

    func isSame(_ isMarked: Bool, _ after: EventID?) -> Bool { self.isMarked == isMarked && self.after == after }
  }
}

// MARK: Commands

extension Client {
  mutating func setTag(_ tag: RoomTag, on room: RoomID, _ id: CommandID) {
    guard let user = session?.userID else { return }
    guard !tag.name.isEmpty, tag.name.count <= Limits.tagBytes else { return finish(id, .failed(.invalidContent)) }
    request(
      .setRoomTag, Endpoint.setRoomTag.path(user.text, room.text, tag.name), body: tag.content, for: .command(id))
  }

  mutating func removeTag(_ name: ByteString, from room: RoomID, _ id: CommandID) {
    guard let user = session?.userID else { return }
    request(.deleteRoomTag, Endpoint.deleteRoomTag.path(user.text, room.text, name), for: .command(id))
  }

  /// Shown at once, and taken back where the server refuses.
  mutating func markUnread(_ isMarked: Bool, after: EventID? = nil, _ room: RoomID, _ id: CommandID) {
    guard let user = session?.userID, rooms[room] != nil else { return finish(id, .failed(.unknownRoom)) }
    let mark = Room.UnreadMark(isMarked: isMarked, after: after)
    rooms[room]?.unreadMark = mark
    if !roomsMarking.contains(room) { roomsMarking.append(room) }
    notify(.room(room, .unread))
    let path = Endpoint.setAccountDataPerRoom.path(user.text, room.text, EventType.markedUnread.text)
    let body = JSONWriter.object { writer in
      writer.member("unread", isMarked)
      if let after { writer.member(RoomMarks.unreadAfterKey, after) }
    }
    request(.setAccountDataPerRoom, path, body: body, for: .unreadMark(room, mark, id))
  }

  mutating func unreadMarkAnswered(_ answer: Answer, _ room: RoomID, _ asked: Room.UnreadMark, _ id: CommandID) {
    if let mark = rooms[room]?.unreadMark, mark.isSame(asked.isMarked, asked.after), mark.afterSync == nil {
      if case .success = answer {
        rooms[room]?.unreadMark?.afterSync = syncLoop.started
      } else {
        rooms[room]?.unreadMark = nil
        notify(.room(room, .unread))
      }
    }
    finish(id, answer.error.map { .failed($0) } ?? .done)
  }

  /// Somebody reads the room.
  mutating func clearUnreadMark(_ room: RoomID) {
    if let known = rooms[room], known.isMarkedUnread { markUnread(false, room, 0) }
  }

  /// A sync that was asked for after the server had the mark says how it is, whether it tells of the room or not. So does one that came
  /// after the server had it and tells of another mark: that is a newer one, of another device.
  mutating func settleUnreadMarks(_ sync: PreparedSync) {
    guard !roomsMarking.isEmpty else { return }
    let told = Set(sync.rooms.filter { $0.delta.isMarkTold }.map { $0.id })
    for id in roomsMarking {
      guard let mark = rooms[id]?.unreadMark, let known = rooms[id]?.state.marks else { continue }
      let isConfirmed = mark.isSame(known.isMarkedUnread, known.unreadAfter)
      let isOver = mark.afterSync.map { $0 < sync.number || told.contains(id) } ?? false
      guard isConfirmed || isOver else { continue }
      rooms[id]?.unreadMark = nil
      if !isConfirmed { notify(.room(id, .unread)) }
    }
    roomsMarking.removeAll { rooms[$0]?.unreadMark == nil }
  }
}
