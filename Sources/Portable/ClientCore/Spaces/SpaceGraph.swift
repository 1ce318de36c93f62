import JSON
import MatrixModel

/// What is unread in a space, its subspaces included, every room once.
public struct SpaceCounts: Sendable, Hashable {
  /// Unread messages that call for notice.
  public internal(set) var notifications = 0
  /// Of these, the ones that name the reader.
  public internal(set) var highlights = 0
  /// Rooms with something unread, or marked as unread.
  public internal(set) var unreadRooms = 0

  // A server may count as much as fits into 32 bits in every room.
  static func += (left: inout SpaceCounts, right: SpaceCounts) {
    left.notifications &+= right.notifications
    left.highlights &+= right.highlights
    left.unreadRooms &+= right.unreadRooms
  }

  static func -= (left: inout SpaceCounts, right: SpaceCounts) {
    left.notifications &-= right.notifications
    left.highlights &-= right.highlights
    left.unreadRooms &-= right.unreadRooms
  }
}

/// The joined spaces and their rooms: by what the spaces say (`m.space.child`), and by what rooms say (`m.space.parent`) where the space's
/// power levels let that count. Spaces may contain each other in circles.
public struct SpaceGraph: Sendable {
  /// For each joined space: first its own children in their order, then rooms that only name it as their parent, by room ID.
  private var down: [RoomID: [RoomID]] = [:]
  private var up: [RoomID: Set<RoomID>] = [:]
  /// For each joined space.
  private var totals: [RoomID: SpaceCounts] = [:]
  /// Of every room with something unread, as it is in the totals.
  private var counted: [RoomID: SpaceCounts] = [:]
  /// Rooms that say they belong to the space.
  private var claimed: [RoomID: Set<RoomID>] = [:]
  private var claims: [RoomID: [SpaceParent]] = [:]

  // MARK: Reading

  /// The joined spaces, by room ID.
  public var spaces: [RoomID] { down.keys.ordered() }
  public func isSpace(_ room: RoomID) -> Bool { down[room] != nil }

  /// The direct children of the space in order, also rooms that the user has not joined. Empty if the user has not joined the space.
  public func children(of space: RoomID) -> [RoomID] { down[space] ?? [] }

  /// The spaces that the room is in itself, by room ID.
  public func parents(of room: RoomID) -> [RoomID] { (up[room] ?? []).ordered() }

  public func isInSpace(_ room: RoomID) -> Bool { up[room] != nil }

  /// All spaces that the room is in, itself aside, by room ID. O(ancestors).
  public func ancestors(of room: RoomID) -> [RoomID] { reached(from: [room], by: { up[$0] }, room).ordered() }

  /// Everything in the space and in its subspaces, subspaces included, each once. O(what is in it).
  public func rooms(in space: RoomID) -> Set<RoomID> { reached(from: [space], by: { down[$0] }, space) }

  /// What is unread in it. O(1).
  public func counts(of space: RoomID) -> SpaceCounts { totals[space] ?? SpaceCounts() }

  /// Spaces that are in no other; of spaces that contain each other in a circle and are in no other, the one with the lowest room ID.
  /// By room ID.
  public var roots: [RoomID] {
    let all = spaces
    var roots = all.filter { up[$0] == nil || up[$0] == [$0] }
    var seen: Set<RoomID> = []
    for root in roots { reach(from: root, &seen) }
    for space in all where !seen.contains(space) {
      roots.append(space)
      reach(from: space, &seen)
    }
    return roots.ordered()
  }

  /// A space or room in the tree of spaces.
  public struct Branch: Sendable, Hashable {
    public let room: RoomID
    /// 0 for roots.
    public let depth: Int
    public let parent: RoomID?
  }

  /// The tree below the space or, without one, below all roots: each space before what is in it. Where spaces contain each other in circles, one that
  /// is above itself is left out. At most `Limits.spaceBranches`, for a room may stand in many places.
  /// - Parameter spacesOnly: whether rooms are left out.
  public func tree(of space: RoomID? = nil, spacesOnly: Bool = false) -> [Branch] {
    var tree: [Branch] = []
    var path: [RoomID] = []
    for root in space.map({ [$0] }) ?? roots {
      grow(Branch(room: root, depth: 0, parent: nil), &path, spacesOnly: spacesOnly, &tree)
    }
    return tree
  }

  private func grow(_ branch: Branch, _ path: inout [RoomID], spacesOnly: Bool, _ tree: inout [Branch]) {
    guard tree.count < Limits.spaceBranches, path.count < Limits.spaceDepth, !path.contains(branch.room) else { return }
    if spacesOnly, !isSpace(branch.room) { return }
    tree.append(branch)
    path.append(branch.room)
    for child in children(of: branch.room) {
      grow(
        Branch(room: child, depth: branch.depth + 1, parent: branch.room), &path, spacesOnly: spacesOnly, &tree)
    }
    path.removeLast()
  }

  private func reach(from root: RoomID, _ seen: inout Set<RoomID>) {
    seen.insert(root)
    for room in rooms(in: root) where isSpace(room) { seen.insert(room) }
  }

  private func reached<Next: Sequence<RoomID>>(
    from start: [RoomID], by next: (RoomID) -> Next?, _ origin: RoomID
  ) -> Set<RoomID> {
    var found: Set<RoomID> = []
    var waiting = start
    while let room = waiting.popLast() {
      guard let others = next(room) else { continue }
      for other in others where other != origin && found.insert(other).inserted { waiting.append(other) }
    }
    return found
  }

  // MARK: Changing

  /// What a step has changed.
  struct Delta: Sendable {
    /// Spaces whose children are others, or that came or went.
    var spaces: Set<RoomID> = []
    /// Rooms that came into a space or left one.
    var moved: Set<RoomID> = []
    /// Spaces whose counts are different.
    var counts: Set<RoomID> = []
  }

  /// Takes rooms that have changed; nil for those that are gone. `room` finds any.
  mutating func update(_ changed: some Sequence<RoomID>, _ room: (RoomID) -> Room?) -> Delta {
    var delta = Delta()
    var dirty: Set<RoomID> = []
    for id in changed {
      let known = room(id)
      count(id, known, &delta)
      let parents = known?.membership == .join ? known?.state.space.parents ?? [] : []
      if parents != claims[id] ?? [] {
        for parent in (claims[id] ?? []) + parents { dirty.insert(parent.roomID) }
        for parent in claims[id] ?? [] { claimed[parent.roomID]?.remove(id) }
        for parent in parents { claimed[parent.roomID, default: []].insert(id) }
        claims[id] = parents.isEmpty ? nil : parents
      }
      if down[id] != nil || known?.isSpace ?? false { dirty.insert(id) }
    }
    for id in dirty { connect(id, room(id), &delta) }
    recount(&delta)
    return delta
  }

  private mutating func count(_ id: RoomID, _ room: Room?, _ delta: inout Delta) {
    var new = SpaceCounts()
    if let room, room.membership == .join, !room.isSpace {
      new = SpaceCounts(
        notifications: room.notificationCount, highlights: room.highlightCount, unreadRooms: room.isUnread ? 1 : 0)
    }
    let old = counted[id] ?? SpaceCounts()
    guard new != old else { return }
    counted[id] = new == SpaceCounts() ? nil : new
    for space in ancestors(of: id) {
      totals[space, default: SpaceCounts()] -= old
      totals[space, default: SpaceCounts()] += new
      delta.counts.insert(space)
    }
  }

  private mutating func connect(_ id: RoomID, _ room: Room?, _ delta: inout Delta) {
    let old = down[id]
    var new: [RoomID]?
    if let room, room.isSpace, room.membership == .join {
      var children = room.spaceChildren.map { $0.roomID }
      let own = room.state.space.children
      let levels = room.powerLevels
      children += (claimed[id] ?? []).filter { child in
        guard own[child] == nil, let claim = claims[child]?.first(where: { $0.roomID == id }) else { return false }
        return levels?.canSend(.spaceChild, isState: true, by: claim.sender) ?? false
      }.ordered()
      new = children
    }
    guard new != old else { return }
    down[id] = new
    if new == nil { totals[id] = nil }
    delta.spaces.insert(id)
    let before = Set(old ?? [])
    let after = Set(new ?? [])
    for child in before.subtracting(after) {
      up[child]?.remove(id)
      if up[child]?.isEmpty ?? false { up[child] = nil }
      delta.moved.insert(child)
    }
    for child in after.subtracting(before) {
      up[child, default: []].insert(id)
      delta.moved.insert(child)
    }
  }

  /// Counts the spaces anew that have other children, and all above them.
  private mutating func recount(_ delta: inout Delta) {
    guard !delta.moved.isEmpty || !delta.spaces.isEmpty else { return }
    var affected: Set<RoomID> = []
    for space in delta.spaces {
      if down[space] != nil { affected.insert(space) }
      affected.formUnion(ancestors(of: space))
    }
    for space in affected {
      var total = SpaceCounts()
      for room in rooms(in: space) { if let counts = counted[room] { total += counts } }
      if total != totals[space] ?? SpaceCounts() { delta.counts.insert(space) }
      totals[space] = total
    }
  }
}
