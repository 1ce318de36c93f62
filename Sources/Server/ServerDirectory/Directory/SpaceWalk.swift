import Database
import JSON
import MatrixModel
import ServerRooms

/// A walk down a tree of spaces: each room once, a space before its children, children in the order of the space.
///
/// Spec: Client-Server API, "Discovering rooms within spaces", "Ordering of children within a space".
struct SpaceWalk: Sendable {
  /// A room that the user may see, with the children a space has.
  struct Step: Sendable {
    let preview: RoomPreview
    let children: [StoredEvent]
  }

  /// Rooms that one walk looks at, seen or not.
  static let roomsLimit = 10_000
  /// Children of one space.
  static let childrenLimit = 1_000

  let maxDepth: Int
  let suggestedOnly: Bool
  /// What is still to be visited, the next one last.
  private var waiting: [(room: RoomID, depth: Int)]
  private var visited: Set<RoomID> = []

  init(from root: RoomID, maxDepth: Int, suggestedOnly: Bool) {
    self.maxDepth = maxDepth
    self.suggestedOnly = suggestedOnly
    waiting = [(root, 0)]
  }

  /// Rooms that wait or were visited: what the walk takes in memory, some 40 bytes for each.
  var size: Int { waiting.count + visited.count }

  /// Whether there may be more.
  var isUnfinished: Bool { !waiting.isEmpty && visited.count < Self.roomsLimit }

  /// The next room that `user` may see; nil at the end, and where none was among the next `looks` ones.
  ///
  /// - Parameter looks: rooms to be looked at, seen or not, counted down.
  mutating func next(
    for user: UserID, in transaction: ReadTransaction, of rooms: Rooms, looks: inout Int
  ) throws -> Step? {
    while isUnfinished, looks > 0, let (roomID, depth) = waiting.popLast() {
      looks -= 1
      guard visited.insert(roomID).inserted, let room = try rooms.cache.snapshot(of: roomID, in: transaction) else {
        continue
      }
      let preview = RoomPreview(of: room)
      guard try preview.isAccessible(to: user, in: transaction, of: rooms) else { continue }
      let children = preview.isSpace ? Self.children(of: room, suggestedOnly: suggestedOnly) : []
      if depth < maxDepth {
        waiting += children.reversed().compactMap { child in
          child.stateKey.flatMap { RoomID($0) }.flatMap { visited.contains($0) ? nil : ($0, depth + 1) }
        }
        // The walk ends before it comes to those.
        if waiting.count > Self.roomsLimit { waiting.removeFirst(waiting.count - Self.roomsLimit) }
      }
      return Step(preview: preview, children: children)
    }
    return nil
  }

  /// The valid `m.space.child` events of a space, in order: by `order`, then by time, then by room ID.
  private static func children(of room: RoomSnapshot, suggestedOnly: Bool) -> [StoredEvent] {
    let valid = room.state.values.filter { event in
      guard event.type == .spaceChild, let via = event.content["via"], via.count > 0, via.isArray else { return false }
      guard let key = event.stateKey, RoomID(key) != nil else { return false }
      return !suggestedOnly || event.content["suggested"]?.bool ?? false
    }
    let keyed = valid.map { (event: $0, order: order(of: $0)) }
    return keyed.sorted(by: isBefore).prefix(childrenLimit).map(\.event)
  }

  private static func isBefore(
    _ a: (event: StoredEvent, order: ByteString?), _ b: (event: StoredEvent, order: ByteString?)
  ) -> Bool {
    switch (a.order, b.order) {
    case (let left?, let right?) where left != right: return left < right
    case (.some, nil): return true
    case (nil, .some): return false
    default: break
    }
    if a.event.timestamp != b.event.timestamp { return a.event.timestamp < b.event.timestamp }
    return (a.event.stateKey ?? "") < (b.event.stateKey ?? "")
  }

  /// Spec: `m.space.child`, `order`: at most 50 printable ASCII characters, else it counts as not given.
  private static func order(of event: StoredEvent) -> ByteString? {
    guard let order = event.content["order"]?.text, order.count <= 50,
      order.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    return order
  }
}
