import JSON
import MatrixModel

/// The versions of the records (`StoreKey`).
///
/// | version | what was different |
/// |---|---|
/// | 1 | members and receipts stood under `a/member/ROOM/USER` and `a/receipt/ROOM/USER`, segments under `t/ROOM/NUMBER` with a list of them in the room's record |
/// | 2 | a room's tags and marks, its place in spaces and the breadcrumbs were not kept |
///
/// A migration may drop what a sync brings again, never the login, messages on their way or drafts.
enum StoreSchema {
  static let current = 3

  /// What a fresh sync finds: nothing but what it does not bring.
  static let freshSync: [StoreOperation] = StoreKey.synced.map { .deleteAll(prefix: $0) } + [put]

  static var put: StoreOperation { .put(key: StoreKey.schema, value: Array("\(current)".utf8)) }

  static func version(_ value: [UInt8]) -> Int? { Answer.parse(value)?.count32 }

  /// Whether a fresh sync does not bring it.
  static func isKept(_ key: ByteString) -> Bool {
    key.hasPrefix("a/session") || key.hasPrefix("a/outbox/") || key.hasPrefix("a/inbox/") || key.hasPrefix("a/draft/")
      || key.utf8.starts(with: StoreKey.encryptedRooms.utf8)
  }

  /// Makes the account's records those of the current version and returns what does the same in the store. From an unknown
  /// version, newer or none, only what a fresh sync does not bring is taken over.
  static func migrate(_ records: inout [StoreRecord], from version: Int?) -> [StoreOperation] {
    var operations: [StoreOperation] = []
    var version = version ?? 0
    if version < 1 || version > current {
      operations += startAfresh(&records)
      version = current
    }
    while version < current {
      switch version {
      case 1, 2: operations += startAfresh(&records)
      default: break
      }
      version += 1
    }
    return operations + [put]
  }

  private static func startAfresh(_ records: inout [StoreRecord]) -> [StoreOperation] {
    var operations = freshSync
    for record in records where !isKept(record.key) { operations.append(.delete(key: record.key)) }
    let encrypted = records.compactMap { encryptedRoom($0) }
    records.removeAll { !isKept($0.key) }
    for room in encrypted {
      let record = StoreRecord(key: StoreKey.encrypted(room), value: encryptedRecord(of: room))
      records.append(record)
      operations.append(.put(key: record.key, value: record.value))
    }
    return operations
  }

  private static func encryptedRoom(_ record: StoreRecord) -> RoomID? {
    guard record.key.hasPrefix("a/room/"), let json = Answer.parse(record.value), json.bool("encrypted") ?? false
    else { return nil }
    return RoomID(json["id"])
  }

  /// A room that is encrypted stays so when a sync brings it anew: a server that hides it would get clear text.
  static func putEncrypted(_ room: RoomID) -> StoreOperation {
    .put(key: StoreKey.encrypted(room), value: encryptedRecord(of: room))
  }

  private static func encryptedRecord(of room: RoomID) -> [UInt8] { JSONWriter.object { $0.member("id", room) } }
}

extension Client {
  /// What no sync brings again: worth saving from a damaged store.
  public static let irreplaceableRecords: [StoreRange] = [
    StoreRange(prefix: StoreKey.session), StoreRange(prefix: "a/outbox/"), StoreRange(prefix: StoreKey.inbox),
    StoreRange(prefix: "a/draft/"), StoreRange(prefix: StoreKey.encryptedRooms), StoreRange(prefix: StoreKey.encryption)
  ]
}
