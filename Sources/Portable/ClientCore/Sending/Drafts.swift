public import JSON
public import MatrixModel

/// What stands in a composer and is not sent yet.
public struct Draft: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case message
    case reply(to: EventID)
    case edit(of: EventID)
  }

  /// As it was written, Markdown and all.
  public var text: ByteString
  public var kind: Kind

  public init(_ text: ByteString, kind: Kind = .message) {
    self.text = text
    self.kind = kind
  }

  var isEmpty: Bool { text.isEmpty && kind == .message }
}

// MARK: As JSON

extension Draft {
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("text", text)
    switch kind {
    case .message: break
    case .reply(let event): writer.member("reply", event)
    case .edit(let event): writer.member("edit", event)
    }
  }

  init?(_ json: JSON) {
    guard let text = json.text("text") else { return nil }
    self.init(text)
    if let event = EventID(json["reply"]) { kind = .reply(to: event) }
    if let event = EventID(json["edit"]) { kind = .edit(of: event) }
  }
}

/// A composer: that of a room, or of a thread in it.
struct DraftPlace: Hashable, Sendable {
  let room: RoomID
  /// The thread's root.
  let thread: EventID?
}

extension Room {
  /// What stands in the room's composer.
  public var draft: ByteString { drafts[nil]?.text ?? "" }

  /// nil where nothing does. `thread` is the root of a thread, nil for the room itself.
  public func draft(in thread: EventID?) -> Draft? { drafts[thread] }

  /// The room's draft with another text: it answers or edits the same event unless the text is empty.
  public func draft(saying text: ByteString) -> Draft {
    Draft(text, kind: text.isEmpty ? .message : drafts[nil]?.kind ?? .message)
  }
}

/// What is still to be done about drafts.
struct Drafts: Sendable {
  /// The store does not have them yet; it gets them when `timer` fires.
  var unstored: [DraftPlace] = []
  var timer: TimerID?
  var passed = PassedDrafts()
  /// Of rooms that a fresh sync is still to bring.
  var orphans: [RoomID: [EventID?: Draft]] = [:]
}

extension Client {
  mutating func setDraft(_ draft: Draft, in id: RoomID, thread: EventID?, _ command: CommandID) {
    guard draft.text.count <= ContentLimits.contentBytes else {
      return finish(command, .failed(.tooLarge(limitBytes: Int64(ContentLimits.contentBytes))))
    }
    defer { finish(command, .done) }
    guard let room = rooms[id], room.drafts[thread] ?? Draft("") != draft else { return }
    let hasNewText = (room.drafts[thread]?.text ?? "") != draft.text
    let place = DraftPlace(room: id, thread: thread)
    put(draft, at: place)
    passOn(place)
    guard hasNewText else { return }
    if draft.text.isEmpty { stopTyping(id) } else { tellTyping(id) }
  }

  /// Shows it, and stores it in a moment.
  mutating func put(_ draft: Draft, at place: DraftPlace) {
    rooms[place.room]?.drafts[place.thread] = draft.isEmpty ? nil : draft
    notify(.room(place.room, .draft))
    if !drafts.unstored.contains(place) { drafts.unstored.append(place) }
    if drafts.timer == nil { drafts.timer = startTimer(Limits.draftDelayMilliseconds, .drafts) }
  }

  mutating func writeDrafts() {
    var timer = drafts.timer
    cancelTimer(&timer)
    drafts.timer = nil
    let operations: [StoreOperation] = drafts.unstored.compactMap { place in
      guard let room = rooms[place.room] else { return nil }
      guard let draft = room.drafts[place.thread] else { return .delete(key: StoreKey.draft(place)) }
      return .put(key: StoreKey.draft(place), value: DraftRecord(place: place, draft: draft).record)
    }
    drafts.unstored = []
    if !operations.isEmpty { write(operations) }
  }

  /// The draft has become a message, in one batch with it.
  mutating func clearDraft(_ place: DraftPlace, _ operations: inout [StoreOperation]) {
    drafts.unstored.removeAll { $0 == place }
    stopTyping(place.room)
    guard rooms[place.room]?.drafts[place.thread] != nil else { return }
    rooms[place.room]?.drafts[place.thread] = nil
    passOn(place)
    operations.append(.delete(key: StoreKey.draft(place)))
    notify(.room(place.room, .draft))
  }

  /// The draft was an edit of that event.
  mutating func clearDraft(editing event: EventID, in room: RoomID, _ operations: inout [StoreOperation]) {
    for (thread, draft) in rooms[room]?.drafts ?? [:] where draft.kind == .edit(of: event) {
      clearDraft(DraftPlace(room: room, thread: thread), &operations)
    }
  }
}

extension StoreKey {
  static func draft(_ place: DraftPlace) -> ByteString {
    guard let thread = place.thread else { return draft(place.room) }
    return ByteString(drafts(ofThreadsIn: place.room).string + PercentEncoding.encode(thread.text))
  }

  static func drafts(ofThreadsIn room: RoomID) -> ByteString { ByteString(draft(room).string + "/") }
}

/// `a/draft/…`
struct DraftRecord: Sendable {
  let place: DraftPlace
  let draft: Draft

  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("room", place.room)
      if let thread = place.thread { writer.member("thread", thread) }
      draft.writeMembers(to: &writer)
    }
    return writer.bytes
  }

  init(place: DraftPlace, draft: Draft) {
    self.place = place
    self.draft = draft
  }

  init?(record: JSON) {
    guard let room = RoomID(record["room"]), let draft = Draft(record) else { return nil }
    place = DraftPlace(room: room, thread: EventID(record["thread"]))
    self.draft = draft
  }
}
