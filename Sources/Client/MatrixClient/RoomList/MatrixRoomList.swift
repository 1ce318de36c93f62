public import ClientCore
public import MatrixModel

/// A list of rooms that is kept up to date for as long as this handle is there.
///
///     let list = await client.roomList(RoomListQuery(filter: RoomListFilter(.unread)))
///     for await changes in await list.changes() { view.apply(changes) }
///
/// What the rows show is in `MatrixRoom.state`.
public final class MatrixRoomList: Sendable {
  public let client: MatrixClient
  public let query: RoomListQuery
  let id: RoomListID

  init(client: MatrixClient, query: RoomListQuery, id: RoomListID) {
    self.client = client
    self.query = query
    self.id = id
  }

  deinit {
    let (client, id) = (client, id)
    Task { await client.closeRoomList(id) }
  }

  /// The rooms that are shown now, by section, in the order of the query.
  public var sections: [(section: RoomListSection, rooms: [RoomID])] {
    get async {
      let rooms = await client.core.roomList(id)?.rooms ?? []
      return zip(query.sections, rooms).map { ($0, $1) }
    }
  }

  /// The rooms that are shown of one section.
  public func rooms(in section: RoomListSection) async -> [RoomID] {
    await client.core.roomList(id)?.rooms(in: section) ?? []
  }

  /// How many rooms a section has, shown or not.
  public func count(of section: RoomListSection) async -> Int { await client.core.roomList(id)?.count(of: section) ?? 0 }

  /// The list as it is (`RoomListChange.reset`), then every change of it: the steps of one that belong together. Ends with the client.
  public func changes() async -> AsyncStream<[RoomListChange]> { await client.changes(of: id) }

  /// Shows the next page of a section, where the query has a `pageSize`.
  public func grow(_ section: RoomListSection) async { await client.growRoomList(id, section) }
}

extension MatrixClient {
  /// Opens a list of the account's rooms. Several may be open at once.
  public func roomList(_ query: RoomListQuery = RoomListQuery()) -> MatrixRoomList {
    lastRoomList += 1
    handle(.command(.roomList(.open(lastRoomList, query)), id: 0))
    return MatrixRoomList(client: self, query: query, id: lastRoomList)
  }

  func closeRoomList(_ id: RoomListID) { handle(.command(.roomList(.close(id)), id: 0)) }

  func growRoomList(_ id: RoomListID, _ section: RoomListSection) {
    handle(.command(.roomList(.grow(id, section)), id: 0))
  }

  func changes(of list: RoomListID) -> AsyncStream<[RoomListChange]> {
    let changes = changes()
    let (stream, continuation) = AsyncStream.makeStream(of: [RoomListChange].self)
    continuation.yield([.reset(core.roomList(list)?.rooms ?? [])])
    let task = Task {
      for await case .roomList(list, let steps) in changes { continuation.yield(steps) }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Rooms visited last (`MatrixRoom.visit()`), the last one first; the same on all devices of the account.
  public var breadcrumbs: [RoomID] { core.breadcrumbs.rooms }

  /// Whether the server hides rooms until their next message (`MatrixRoom.hide()`).
  public func canHideRooms() async throws(ClientError) -> Bool { try await extensions().contains(.hide) }

  /// Hides all rooms one is in, or these, until somebody else says something in each; the number of those that were shown before. Servers
  /// without `martlet.hide` refuse it.
  @discardableResult
  public func hideRooms(_ rooms: [RoomID]? = nil) async throws(ClientError) -> Int {
    try await perform(.setHidden(true, rooms: rooms))
  }

  /// Shows all hidden rooms, or these; the number of those that were not shown before.
  @discardableResult
  public func unhideRooms(_ rooms: [RoomID]? = nil) async throws(ClientError) -> Int {
    try await perform(.setHidden(false, rooms: rooms))
  }

  /// The rooms with a tag, in its order.
  public func rooms(tagged name: ByteString) -> [RoomID] { core.rooms(tagged: name) }
}
