public import ClientCore
public import MatrixModel

/// Spaces: rooms that others are put into.
extension MatrixClient {
  /// The spaces one is in and what is in them, as it is now; `Change.spaces` and `Change.spaceCounts` tell when it is different.
  public var spaces: SpaceGraph { core.spaces }
  /// Spaces that are in no other, by their names.
  public var topLevelSpaces: [RoomID] { core.topLevelSpaces }
  /// Rooms that are in no space.
  public var orphanRooms: [RoomID] { core.orphanRooms }

  /// The main space that the room says it belongs to; nil where it names none that counts.
  public func canonicalParent(of room: RoomID) -> RoomID? { core.canonicalParent(of: room) }

  /// Makes a space, and ends when a sync has brought it.
  /// - Parameter space: as `NewRoom.space` makes it.
  public func createSpace(_ space: NewRoom) async throws(ClientError) -> MatrixRoom {
    guard let id = try await perform(.rooms(.create(space))) else { throw .badAnswer }
    await wait { $0.room(id)?.isSpace ?? false || $0.sessionState != .signedIn }
    return room(id)
  }
}

extension MatrixRoom {
  /// Puts a room into this space.
  /// - Parameters:
  ///   - order: see `SpaceChildChange`.
  ///   - setsParent: whether the room says so as well, as its main space. Where one may not say so in the room, it is in the space all the same.
  /// - Throws: `notAllowed` where the own power level does not suffice.
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

  /// Changes how a room stands in this space; what the change does not name stays as it is.
  public func setChild(_ room: RoomID, _ change: SpaceChildChange) async throws(ClientError) {
    try await client.perform(.spaces(.setChild(room, in: id, change)))
  }

  /// Takes a room out of this space.
  public func removeChild(_ room: RoomID) async throws(ClientError) {
    try await client.perform(.spaces(.removeChild(room, from: id)))
  }

  /// Makes a room the one at that index of this space's children, by giving as few of them another order as it takes.
  public func moveChild(_ room: RoomID, to index: Int) async throws(ClientError) {
    for (child, order) in await client.core.spaceOrders(toMove: room, to: index, in: id) {
      try await setChild(child, SpaceChildChange(order: order))
    }
  }

  /// Puts another room where this one stands in the spaces one may change.
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

  /// What is in this space, as the server tells it, page by page: also rooms one is not in.
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
  /// Whether the last page was there.
  public private(set) var isAtEnd = false

  init(room: MatrixRoom, suggestedOnly: Bool, maxDepth: Int?, limit: Int?) {
    self.room = room
    self.suggestedOnly = suggestedOnly
    self.maxDepth = maxDepth
    self.limit = limit
  }

  /// nil behind the last one. After an error the same page can be asked for again.
  public mutating func next() async throws(ClientError) -> HierarchyPage? {
    if isAtEnd { return nil }
    let page = try await room.hierarchy(suggestedOnly: suggestedOnly, maxDepth: maxDepth, limit: limit, from: from)
    // A server that goes in circles ends here.
    isAtEnd = page.nextBatch == nil || page.nextBatch == from
    from = page.nextBatch
    return page
  }
}
