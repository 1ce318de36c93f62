public import ClientCore
public import MatrixModel

/// Spaces: rooms that list other rooms.
extension MatrixClient {
  /// The spaces in which the user is joined, with their rooms. `Change.spaces` and `Change.spaceCounts` report changes.
  public var spaces: SpaceGraph { core.spaces }
  /// The spaces that are in no other space, in the order of their names.
  public var topLevelSpaces: [RoomID] { core.topLevelSpaces }
  /// The rooms that are in no space.
  public var orphanRooms: [RoomID] { core.orphanRooms }

  /// Returns the main space that a room names as its parent; nil if it names no valid one.
  public func canonicalParent(of room: RoomID) -> RoomID? { core.canonicalParent(of: room) }

  /// Creates a space. Returns when a sync has brought it.
  /// - Parameter space: the space, from `NewRoom.space`.
  public func createSpace(_ space: NewRoom) async throws(ClientError) -> MatrixRoom {
    guard let id = try await perform(.rooms(.create(space))) else { throw .badAnswer }
    await wait { $0.room(id)?.isSpace ?? false || $0.sessionState != .signedIn }
    return room(id)
  }
}

extension MatrixRoom {
  /// Adds a room to this space.
  /// - Parameters:
  ///   - order: see `SpaceChildChange`.
  ///   - setsParent: whether the room also names this space as its main parent. If the user is not allowed to set that, the room is added anyway.
  /// - Throws: `notAllowed` if the user's power level is too low.
  public func addChild(
    _ room: RoomID, order: ByteString? = nil, isSuggested: Bool = false, setsParent: Bool = false
  ) async throws(ClientError) {
    try await setChild(room, SpaceChildChange(order: order, isSuggested: isSuggested))
    guard setsParent else { return }
    do throws(ClientError) {
      try await client.perform(.spaces(.setParent(room, of: id, isCanonical: true)))
    } catch {
      switch error {
      case .notAllowed, .unknownRoom, .refused(403, _, _, _): return
      default: throw error
      }
    }
  }

  /// Changes the entry of a room in this space. Keeps everything that the change does not name.
  public func setChild(_ room: RoomID, _ change: SpaceChildChange) async throws(ClientError) {
    try await client.perform(.spaces(.setChild(room, in: id, change)))
  }

  /// Removes a room from this space.
  public func removeChild(_ room: RoomID) async throws(ClientError) {
    try await client.perform(.spaces(.removeChild(room, from: id)))
  }

  /// Moves a room to an index among this space's children. Changes the order of as few children as possible.
  public func moveChild(_ room: RoomID, to index: Int) async throws(ClientError) {
    for (child, order) in await client.core.spaceOrders(toMove: room, to: index, in: id) {
      try await setChild(child, SpaceChildChange(order: order))
    }
  }

  /// Replaces this room by another one in the spaces that the user can change.
  func handOverPlaces(to successor: RoomID) async {
    for space in await client.spaces.parents(of: id) {
      guard let place = await client.state(of: space)?.spaceChildren.first(where: { $0.roomID == id }) else { continue }
      let isMain = await client.canonicalParent(of: id) == space
      let parent = client.room(space)
      do throws(ClientError) {
        try await parent.addChild(successor, order: place.order, isSuggested: place.isSuggested, setsParent: isMain)
        try await parent.removeChild(id)
        if isMain { try await client.perform(.spaces(.removeParent(id, of: space))) }
      } catch { continue }
    }
  }

  /// Returns the hierarchy of this space from the server, in pages. It includes rooms in which the user is not a member.
  public func hierarchyPages(suggestedOnly: Bool = false, maxDepth: Int? = nil, limit: Int? = nil) -> HierarchyPages {
    HierarchyPages(room: self, suggestedOnly: suggestedOnly, maxDepth: maxDepth, limit: limit)
  }
}

/// The pages of a space's hierarchy, one after the other.
///
///     var pages = space.hierarchyPages(limit: 50)
///     while let page = try await pages.next() { show(page.entries) }
public struct HierarchyPages: Sendable {
  private let room: MatrixRoom
  private let suggestedOnly: Bool
  private let maxDepth: Int?
  private let limit: Int?
  private var from: ByteString?
  /// Whether the last page has been returned.
  public private(set) var isAtEnd = false

  init(room: MatrixRoom, suggestedOnly: Bool, maxDepth: Int?, limit: Int?) {
    self.room = room
    self.suggestedOnly = suggestedOnly
    self.maxDepth = maxDepth
    self.limit = limit
  }

  /// Returns the next page; nil after the last one. After an error, the next call requests the same page again.
  public mutating func next() async throws(ClientError) -> HierarchyPage? {
    if isAtEnd { return nil }
    let page = try await room.hierarchy(suggestedOnly: suggestedOnly, maxDepth: maxDepth, limit: limit, from: from)
    // A server that goes in circles ends here.
    isAtEnd = page.nextBatch == nil || page.nextBatch == from
    from = page.nextBatch
    return page
  }
}
