import JSON
import MatrixModel

/// Lists of rooms that are open, and what keeps them up to date.
struct RoomLists: Sendable {
  var open: [RoomListID: RoomList] = [:]
  /// What has changed since the last step.
  var changed: Set<RoomID> = []
  /// Whether everything may have.
  var isAllChanged = true
  /// Rooms whose outbox is different.
  var sending: Set<RoomID> = []
}

extension Client {
  /// nil where it is not open.
  public func roomList(_ id: RoomListID) -> RoomList? { roomLists.open[id] }

  mutating func openRoomList(_ id: RoomListID, _ query: RoomListQuery) {
    settleSpaces()
    roomLists.open[id] = RoomList(query)
    fill(id)
  }

  mutating func closeRoomList(_ id: RoomListID) { roomLists.open[id] = nil }

  mutating func growRoomList(_ id: RoomListID, _ section: RoomListSection) {
    let changes = roomLists.open[id]?.grow(section) ?? []
    if !changes.isEmpty { notify(.roomList(id, changes)) }
  }

  private mutating func fill(_ id: RoomListID) {
    guard var list = roomLists.open[id] else { return }
    list.spaceRooms = spaceRooms(of: list.query.filter)
    let graph = spaces
    list.fill(rooms.values.compactMap { list.entry(of: $0, isInSpace: graph.isInSpace($0.id)) })
    roomLists.open[id] = list
    notify(.roomList(id, [.reset(list.rooms)]))
  }

  private func spaceRooms(of filter: RoomListFilter) -> Set<RoomID> {
    if case .inSpace(let space) = filter.place { return spaces.rooms(in: space) }
    return []
  }

  // MARK: Keeping up

  /// Sees every change that views are told of.
  mutating func noteForLists(_ change: Change) {
    switch change {
    case .room(let id, _): roomLists.changed.insert(id)
    case .sending(let id, _, _): roomLists.sending.insert(id)
    default: break
    }
  }

  /// Once an input is taken in whole: spaces and lists take what has changed.
  mutating func settleLists() {
    if roomLists.changed.isEmpty, !roomLists.isAllChanged { return }
    settleSpaces()
    let changed = roomLists.changed
    let isAllChanged = roomLists.isAllChanged
    roomLists.changed = []
    roomLists.isAllChanged = false
    for id in roomLists.open.keys.ordered() {
      let count = roomLists.open[id]?.count ?? 0
      if isAllChanged || changed.count > max(Limits.roomsPlacedOneByOne, count) {
        fill(id)
      } else {
        update(id, changed)
      }
    }
  }

  private mutating func update(_ id: RoomListID, _ changed: Set<RoomID>) {
    guard var list = roomLists.open.removeValue(forKey: id) else { return }
    var changes: [RoomListChange] = []
    for room in changed.ordered() {
      let entry = rooms[room].flatMap { list.entry(of: $0, isInSpace: spaces.isInSpace(room)) }
      changes += list.update(room, entry)
    }
    roomLists.open[id] = list
    if !changes.isEmpty { notify(.roomList(id, changes)) }
  }

  /// Rooms have come into spaces or left them.
  mutating func placeInSpaces(_ moved: Set<RoomID>) {
    roomLists.changed.formUnion(moved)
    for id in roomLists.open.keys {
      guard let list = roomLists.open[id], case .inSpace = list.query.filter.place else { continue }
      let new = spaceRooms(of: list.query.filter)
      roomLists.changed.formUnion(new.symmetricDifference(list.spaceRooms))
      roomLists.open[id]?.spaceRooms = new
    }
  }
}
