import JSON
import MatrixModel

/// The rooms of the list in their order: invitations first, then by the last message.
struct RoomOrder: Sendable {
  private struct Place: Sendable {
    let isInvite: Bool
    let activity: Int64
    let id: RoomID

    static func < (left: Place, right: Place) -> Bool {
      if left.isInvite != right.isInvite { return left.isInvite }
      if left.activity != right.activity { return left.activity > right.activity }
      return left.id < right.id
    }
  }

  private var places: [Place] = []
  private var placeOf: [RoomID: Place] = [:]

  /// Puts the room where it now belongs, or takes it out. Whether that changed the order; O(log rooms), and the memory between
  /// the old place and the new one moves.
  mutating func update(_ id: RoomID, _ room: Room?, in ids: inout [RoomID]) -> Bool {
    let new = room.flatMap { RoomOrder.place(of: $0) }
    let old = placeOf[id]
    if let old, let new, old.isInvite == new.isInvite, old.activity == new.activity { return false }
    guard old != nil || new != nil else { return false }
    let from = old.map { index(of: $0) }
    if let from { places.remove(at: from) }
    placeOf[id] = new
    let to = new.map { index(of: $0) }
    if let to, let new { places.insert(new, at: to) }
    if from == to { return false }
    if let from { ids.remove(at: from) }
    if let to { ids.insert(id, at: to) }
    return true
  }

  /// All of them anew. O(rooms · log rooms).
  mutating func sort(_ rooms: Dictionary<RoomID, Room>.Values) -> [RoomID] {
    places = rooms.compactMap { RoomOrder.place(of: $0) }.ordered { $0 < $1 }
    placeOf = [:]
    for place in places { placeOf[place.id] = place }
    return places.map { $0.id }
  }

  private static func place(of room: Room) -> Place? {
    guard room.membership == .join || room.membership == .invite else { return nil }
    return Place(isInvite: room.membership == .invite, activity: room.state.lastActivity, id: room.id)
  }

  /// Where it is or would be.
  private func index(of place: Place) -> Int {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Client {
  /// After these rooms have changed.
  mutating func placeRooms(_ changed: [RoomID]) {
    roomLists.changed.formUnion(changed)
    // Most of a first sync is new: sorting once is less than many insertions.
    if changed.count > Limits.roomsPlacedOneByOne { return sortOrder() }
    var isDifferent = false
    for id in changed where roomOrder.update(id, rooms[id], in: &roomIDs) { isDifferent = true }
    if isDifferent { notify(.roomOrder) }
  }

  /// All rooms are others now.
  mutating func sortRooms() {
    roomLists.isAllChanged = true
    sortOrder()
  }

  private mutating func sortOrder() {
    let sorted = roomOrder.sort(rooms.values)
    if sorted != roomIDs {
      roomIDs = sorted
      notify(.roomOrder)
    }
  }
}
