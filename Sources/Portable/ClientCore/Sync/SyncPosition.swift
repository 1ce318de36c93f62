import JSON
import MatrixModel

/// Up to where the syncs have come. Stored with what they brought.
struct SyncPosition: Sendable {
  enum Kind: UInt8, Sendable { case v3, sliding }

  var kind = Kind.v3
  /// `next_batch` of v3, `pos` of sliding sync; nil where the next sync begins anew.
  var token: ByteString?
  /// How often the syncs have begun anew with rooms in the store: by another kind, or because the server has forgotten the token.
  private(set) var round: Int32 = 0
  /// Whether all rooms have been told in this round.
  var isComplete = false
  /// Whether all rooms have ever been told: the first sync is over.
  var hasAllRooms = false
  /// Up to where the device has its messages: sliding sync has a token of its own for them.
  var toDevice: ByteString?
  /// Whether the server has ever said in a sliding sync that something is unread. Synapse never does.
  var countsUnread = false

  /// From the beginning, with what is stored.
  func anew(_ kind: Kind) -> SyncPosition {
    var next = SyncPosition()
    next.kind = kind
    next.round = round &+ 1
    next.hasAllRooms = hasAllRooms
    next.countsUnread = countsUnread
    if self.kind == kind { next.toDevice = toDevice }
    return next
  }

  mutating func complete() {
    isComplete = true
    hasAllRooms = true
  }

  // MARK: Record

  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      if let token { kind == .v3 ? writer.member("next_batch", token) : writer.member("pos", token) }
      if round != 0 { writer.member("round", Int(round)) }
      if countsUnread { writer.member("counts", true) }
      guard kind == .sliding else { return }
      writer.member("complete", isComplete)
      writer.member("all_rooms", hasAllRooms)
      if let toDevice { writer.member("to_device", toDevice) }
    }
    return writer.bytes
  }

  /// Returns nil if the record is not valid.
  init?(record: JSON) {
    if let token = record.text("next_batch") {
      self.token = token
      complete()
    } else if let token = record.text("pos") {
      kind = .sliding
      self.token = token
      isComplete = record.bool("complete") ?? false
      hasAllRooms = record.bool("all_rooms") ?? false
      toDevice = record.text("to_device")
    } else {
      return nil
    }
    countsUnread = record.bool("counts") ?? false
    round = record["round"]?.integer.flatMap { Int32(exactly: $0) } ?? 0
  }

  init() {}
}

/// What the syncs have told of a room last, to find the place of what they tell next.
struct ToldRoom: Sendable {
  /// `SyncPosition.round` in which the room was told.
  var round: Int32 = 0
  /// The newest event that is stored.
  var lastEvent: EventID?
  /// `bump_stamp`: rooms with a higher one have the newer activity. 0 where only v3 has told the room.
  var bumpStamp: Int64 = 0
  var counted = Counted.byThread

  /// What the server counts of what is unread in a room.
  enum Counted: UInt8, Sendable {
    /// In v3.
    case byThread
    /// In sliding sync.
    case together
    /// In the sliding sync of Synapse.
    case nothing
  }

  var record: [UInt8] {
    var writer = JSONWriter(capacity: 64)
    writer.array { writer in
      writer.write(Int(round))
      writer.write(bumpStamp)
      if let lastEvent { writer.write(lastEvent) } else if counted != .byThread { writer.null() }
      if counted != .byThread { writer.write(Int(counted.rawValue)) }
    }
    return writer.bytes
  }

  init() {}

  /// What is not there is not known.
  init(record: JSON) {
    let parts = Array(record.elements)
    guard parts.count >= 2 else { return }
    round = parts[0].integer.flatMap { Int32(exactly: $0) } ?? 0
    bumpStamp = parts[1].integer ?? 0
    if parts.count > 2 { lastEvent = EventID(parts[2]) }
    if parts.count > 3 {
      counted = parts[3].integer.flatMap { UInt8(exactly: $0) }.flatMap(Counted.init(rawValue:)) ?? .byThread
    }
  }
}
