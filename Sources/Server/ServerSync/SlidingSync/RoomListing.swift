import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// One room in a user's list, as much of it as filters and order need.
final class ListedRoom: Sendable {
  let number: RoomNumber
  let roomID: RoomID
  let membership: Membership
  /// Whether the user sees the room although this connection never sent it: rooms that the user left are not listed.
  let isListed: Bool
  /// By which rooms are in order: of the newest event, or of the user's own where they are not in the room.
  let position: Int64
  let isEncrypted: Bool
  /// Of the create event; nil where it has none.
  let type: ByteString?
  /// Of an invitation.
  let inviter: UserID?
  /// The beginning of the name: a name may be as long as an event.
  private let foldedName: [UInt8]

  /// Bytes of a name that filters look at.
  static let nameBytesLimit = 255

  init(
    number: RoomNumber, roomID: RoomID, membership: Membership, isListed: Bool, position: Int64, isEncrypted: Bool,
    type: ByteString?, name: ByteString?, inviter: UserID?
  ) {
    self.number = number
    self.roomID = roomID
    self.membership = membership
    self.isListed = isListed
    self.position = position
    self.isEncrypted = isEncrypted
    self.type = type
    self.inviter = inviter
    foldedName = name.map { Array(Self.folded($0).prefix(Self.nameBytesLimit)) } ?? []
  }

  convenience init?(_ room: RoomSnapshot, for user: UserID) {
    guard let own = room.members[user] else { return nil }
    self.init(
      number: room.number, roomID: room.roomID, membership: own.membership, isListed: own.isListed(for: user),
      position: own.membership == .join ? room.position : own.event.position, isEncrypted: room[.encryption] != nil,
      type: room[.create]?.content["type"]?.text, name: room[.name]?.content["name"]?.text,
      inviter: own.membership == .invite ? own.event.sender : nil)
  }

  /// Whether the name has `part`, which is folded, in it.
  func name(contains part: [UInt8]) -> Bool {
    guard part.count <= foldedName.count else { return false }
    return part.isEmpty
      || (0...(foldedName.count - part.count)).contains { foldedName[$0..<($0 + part.count)].elementsEqual(part) }
  }

  /// ASCII letters in lower case.
  static func folded(_ text: ByteString) -> [UInt8] {
    text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

extension RoomSnapshot.Member {
  /// MSC4186, "Lists": rooms that the user left, or was never in, are not in lists by themselves.
  fileprivate func isListed(for user: UserID) -> Bool {
    switch membership {
    case .join, .invite, .knock: true
    case .leave, .ban: event.sender != user && event.replaced?.membership == .join
    }
  }
}

/// All rooms of one user, the newest first: made once, then carried on by what happens.
struct RoomListing: Sendable {
  private(set) var rooms: [ListedRoom]
  /// What happened after it is not in yet.
  private var asOf: Int64

  /// The list as of now. O(rooms) only when it is made.
  static func current(_ context: SyncContext, _ watch: UserWatch) throws -> RoomListing {
    if var known = watch.syncMemory.listing {
      if try known.update(context, watch) { watch.syncMemory.remember(known) }
      return known
    }
    let listing = try RoomListing(context)
    watch.syncMemory.remember(listing)
    return listing
  }

  /// nil for a room the user has nothing to do with. O(rooms).
  func number(of roomID: RoomID) -> RoomNumber? { rooms.first { $0.roomID == roomID }?.number }

  // MARK: Making

  private struct Facts {
    var isEncrypted = false
    var type: ByteString?
    var name: ByteString?
  }

  private init(_ context: SyncContext) throws {
    let transaction = try context.rows.transaction()
    let facts = try Self.facts(of: context.user, transaction)
    asOf = context.rows.completeUpTo
    rooms = try transaction.all(
      """
      SELECT m.room, r.room_id, m.membership, e.position, (SELECT MAX(position) FROM event WHERE room = m.room),
        e.sender
      FROM membership m JOIN room r ON r.room = m.room JOIN event e ON e.position = m.event
      WHERE m.user_id = $1 AND m.forgotten = 0
      """, context.user
    ) { row in
      let number = RoomNumber(row.integer(0))
      let membership = Membership(rawValue: UInt8(truncatingIfNeeded: row.integer(2))) ?? .leave
      let facts = facts[number] ?? Facts()
      var isListed = true
      if membership == .leave || membership == .ban {
        let own = try RoomLoader(transaction: transaction).event(at: row.integer(3))
        isListed = own.map { RoomSnapshot.Member(membership: membership, event: $0).isListed(for: context.user) } ?? false
      }
      return ListedRoom(
        number: number, roomID: row.identifier(1), membership: membership, isListed: isListed,
        position: membership == .join ? row.integer(4) : row.integer(3), isEncrypted: facts.isEncrypted, type: facts.type,
        name: facts.name, inviter: membership == .invite ? row.identifier(5) : nil)
    }
    rooms.sort { $0.position > $1.position }
  }

  private static func facts(of user: UserID, _ transaction: ReadTransaction) throws -> [RoomNumber: Facts] {
    var facts: [RoomNumber: Facts] = [:]
    try transaction.query(
      """
      SELECT s.room, s.type, e.shared FROM membership m
      JOIN current_state s ON s.room = m.room AND s.type IN ($2, $3, $4) AND s.state_key = ''
      JOIN event e ON e.position = s.event
      WHERE m.user_id = $1 AND m.forgotten = 0
      """, user, EventType.create, EventType.encryption, EventType.name
    ) { row in
      let room = RoomNumber(row.integer(0))
      let type = row.identifier(1, as: EventType.self)
      if type == .encryption {
        facts[room, default: Facts()].isEncrypted = true
        return
      }
      let content = (try? JSON.parse([UInt8(ascii: "{")] + row.blob(2) + [UInt8(ascii: "}")]))?["content"]
      if type == .create {
        facts[room, default: Facts()].type = content?["type"]?.text
      } else {
        facts[room, default: Facts()].name = content?["name"]?.text
      }
    }
    return facts
  }

  // MARK: Carrying on

  /// Moves what has news to its new place. Answers whether anything changed. O(rooms) comparisons, no rows.
  private mutating func update(_ context: SyncContext, _ watch: UserWatch) throws -> Bool {
    guard asOf < context.to.position else { return false }
    var changed = Set(watch.rooms(withEventsAfter: asOf))
    if watch.position.load(ordering: .sequentiallyConsistent) > asOf {
      for (number, entry) in try context.memberships() where entry.position > asOf { changed.insert(number) }
    }
    asOf = context.to.position
    guard !changed.isEmpty else { return true }
    rooms.removeAll { changed.contains($0.number) }
    for number in changed {
      guard let snapshot = try context.room(number), let room = ListedRoom(snapshot, for: context.user) else { continue }
      let place = rooms.firstIndex { $0.position <= room.position } ?? rooms.count
      rooms.insert(room, at: place)
    }
    return true
  }
}

/// What a user's account data says of rooms, for filters.
struct RoomMarkers: Sendable {
  /// -1 before anything was read.
  private(set) var readAt: Int64 = -1
  private(set) var direct: Set<RoomID> = []
  private(set) var tags: [RoomID: Set<ByteString>] = [:]
  private(set) var hidden: Set<RoomID> = []

  static func current(_ context: SyncContext, _ watch: UserWatch) throws -> RoomMarkers {
    var markers = watch.syncMemory.markers ?? RoomMarkers()
    guard markers.readAt < max(0, watch.position.load(ordering: .sequentiallyConsistent)) else { return markers }
    try markers.read(of: context.user, context.rows)
    watch.syncMemory.remember(markers)
    return markers
  }

  /// Reads what has changed since.
  private mutating func read(of user: UserID, _ rows: SyncRows) throws {
    let transaction = try rows.transaction()
    let start = readAt
    readAt = rows.completeUpTo
    try transaction.query(
      """
      SELECT room_id, type, content FROM account_data WHERE user_id = $1 AND position > $2 AND type IN ($3, $4, $5)
      """, user, start, EventType.direct, EventType.tag, EventType.hidden
    ) { row in
      guard let content = try? JSON.parse(row.blob(2)) else { return }
      let type = row.identifier(1, as: EventType.self)
      if type == .direct {
        direct = []
        for member in content.members {
          for room in member.value.elements { if let room = RoomID(room) { direct.insert(room) } }
        }
        return
      }
      let room = row.identifier(0, as: RoomID.self)
      if type == .hidden {
        if content["before"] != nil { hidden.insert(room) } else { hidden.remove(room) }
      } else {
        tags[room] = content["tags"].map { Set($0.members.map(\.key)) }
      }
    }
  }
}
