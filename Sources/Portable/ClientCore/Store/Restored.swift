import JSON
import MatrixModel

/// The account as the store held it.
struct Restored: Sendable {
  var session: Session?
  /// nil before the first sync.
  var position: SyncPosition?
  var filter = SyncFilter()
  var profile = OwnProfile()
  var rooms: [RoomID: Boxed<RoomState>] = [:]
  /// Those that are encrypted, be they among `rooms` or not.
  var encryptedRooms: Set<RoomID> = []
  var directRooms = DirectRooms()
  var breadcrumbs = Breadcrumbs()
  /// The content of `m.push_rules`.
  var pushRules: JSON?
  var notificationWishes = NotificationWishes()
  var ignoredUsers = IgnoredUsers()
  var outbox: [OutboxEntry] = []
  var drafts: [RoomID: [EventID?: Draft]] = [:]
  /// Messages of other processes.
  var inbox: [StoreRecord] = []
  /// What makes the records as they should be: those of an older version are migrated, those of an unknown one or that
  /// cannot be read give way to a fresh sync, and messages and drafts that cannot be read are gone.
  var operations: [StoreOperation] = []

  init(_ records: [StoreRecord]) {
    var records = records
    let version = records.first { $0.key == StoreKey.schema }.flatMap { StoreSchema.version($0.value) }
    var isCorrupt = false
    if version != StoreSchema.current, !records.isEmpty {
      operations += StoreSchema.migrate(&records, from: version)
    }
    for record in records where record.key != StoreKey.schema {
      if read(record) { continue }
      if StoreSchema.isKept(record.key) { operations.append(.delete(key: record.key)) } else { isCorrupt = true }
    }
    // Older stores have no record of it.
    for id in rooms.keys.ordered() where rooms[id]?.wrappedValue.isEncrypted ?? false && encryptedRooms.insert(id).inserted {
      operations.append(StoreSchema.putEncrypted(id))
    }
    if position == nil, !rooms.isEmpty { isCorrupt = true }
    if isCorrupt {
      operations += StoreSchema.freshSync
      position = nil
      rooms = [:]
      directRooms = DirectRooms()
      breadcrumbs = Breadcrumbs()
      pushRules = nil
      notificationWishes = NotificationWishes()
      ignoredUsers = IgnoredUsers()
    }
    outbox = outbox.ordered { $0.id < $1.id }
  }

  /// Returns false if the record is not valid.
  private mutating func read(_ record: StoreRecord) -> Bool {
    if record.key.utf8.starts(with: StoreKey.inbox.utf8) {
      inbox.append(record)
      return true
    }
    guard let json = Answer.parse(record.value) else { return false }
    if record.key == StoreKey.session {
      session = Session(record: json)
      return session != nil
    } else if record.key == StoreKey.sync {
      position = SyncPosition(record: json)
      return position != nil
    } else if record.key == StoreKey.filter {
      filter = SyncFilter(record: json)
    } else if record.key == StoreKey.profile {
      profile = OwnProfile(json)
    } else if record.key == StoreKey.data(.direct) {
      directRooms = DirectRooms(content: json)
    } else if record.key == StoreKey.data(Breadcrumbs.type) {
      breadcrumbs = Breadcrumbs(content: json)
    } else if record.key == StoreKey.data(.pushRules) {
      pushRules = json
    } else if record.key == StoreKey.data(.ignoredUserList) {
      ignoredUsers = IgnoredUsers(content: json)
    } else if record.key == StoreKey.data(.quietHours) {
      _ = notificationWishes.take(.quietHours, json)
    } else if record.key == StoreKey.data(.snooze) {
      _ = notificationWishes.take(.snooze, json)
    } else if record.key == StoreKey.data(.reactionNotifications) {
      _ = notificationWishes.take(.reactionNotifications, json)
    } else if record.key.hasPrefix("a/room/") {
      guard let id = RoomID(json["id"]), let state = RoomState(record: json) else { return false }
      rooms[id] = Boxed(wrappedValue: state)
    } else if record.key.utf8.starts(with: StoreKey.encryptedRooms.utf8) {
      guard let id = RoomID(json["id"]) else { return false }
      encryptedRooms.insert(id)
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
