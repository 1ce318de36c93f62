import JSON
import MatrixModel

/// The account as the store held it.
struct Restored: Sendable {
  var session: Session?
  var syncToken: ByteString?
  var rooms: [RoomID: RoomState] = [:]
  var directRooms = DirectRooms()
  var outbox: [OutboxEntry] = []
  var drafts: [RoomID: [EventID?: Draft]] = [:]
  /// A record of another version, or one that cannot be read: what syncs bring has to come anew.
  var isCorrupt = false
  /// Messages on their way and drafts that cannot be read: nobody can bring them back.
  var lost: [ByteString] = []

  init(_ records: [StoreRecord]) {
    var members: [(RoomID, Member)] = []
    var receipts: [ReceiptRecord] = []
    var hasSchema = false
    for record in records {
      if record.key == StoreKey.schema {
        hasSchema = record.value == StoreKey.schemaVersion
        continue
      }
      guard read(record, &members, &receipts) else {
        if record.key.hasPrefix("a/outbox/") || record.key.hasPrefix("a/draft/") {
          lost.append(record.key)
        } else {
          isCorrupt = true
        }
        continue
      }
    }
    if !hasSchema, !records.isEmpty { isCorrupt = true }
    for (room, member) in members where rooms[room] != nil { _ = rooms[room]?.members.set(member) }
    for receipt in receipts { rooms[receipt.room]?.receipts[receipt.user] = receipt.event }
    if syncToken == nil, !rooms.isEmpty { isCorrupt = true }
    if isCorrupt {
      syncToken = nil
      rooms = [:]
      directRooms = DirectRooms()
    }
    outbox.sort { $0.id < $1.id }
  }

  /// False where the record is none.
  private mutating func read(
    _ record: StoreRecord, _ members: inout [(RoomID, Member)], _ receipts: inout [ReceiptRecord]
  ) -> Bool {
    guard let json = Answer.parse(record.value) else { return false }
    if record.key == StoreKey.session {
      session = Session(record: json)
      return session != nil
    } else if record.key == StoreKey.sync {
      syncToken = json["next_batch"]?.text
      return syncToken != nil
    } else if record.key == StoreKey.data(.direct) {
      directRooms = DirectRooms(content: json)
    } else if record.key.hasPrefix("a/room/") {
      guard let id = RoomID(json["id"]), let state = RoomState(record: json) else { return false }
      rooms[id] = state
    } else if record.key.hasPrefix("a/member/") {
      guard let room = RoomID(json["room"]), let member = Member(record: json) else { return false }
      members.append((room, member))
    } else if record.key.hasPrefix("a/receipt/") {
      guard let receipt = ReceiptRecord(record: json) else { return false }
      receipts.append(receipt)
    } else if record.key.hasPrefix("a/outbox/") {
      guard let entry = OutboxEntry(record: json) else { return false }
      outbox.append(entry)
    } else if record.key.hasPrefix("a/draft/") {
      guard let draft = DraftRecord(record: json) else { return false }
      drafts[draft.place.room, default: [:]][draft.place.thread] = draft.draft
    }
    return true
  }
}
