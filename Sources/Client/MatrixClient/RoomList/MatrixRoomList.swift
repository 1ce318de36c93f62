public import ClientCore
public import MatrixModel

/// A list of rooms that stays up to date as long as this handle exists.
///
///     let list = await client.roomList(RoomListQuery(filter: RoomListFilter(.unread)))
///     for await changes in await list.changes() { view.apply(changes) }
///
/// `MatrixRoom.state` has the content of the rows.
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

  /// The visible rooms by section, in the order of the query.
  public var sections: [(section: RoomListSection, rooms: [RoomID])] {
    get async {
      let rooms = await client.core.roomList(id)?.rooms ?? []
      return zip(query.sections, rooms).map { ($0, $1) }
    }
  }

  /// Returns the visible rooms of a section.
  public func rooms(in section: RoomListSection) async -> [RoomID] {
    await client.core.roomList(id)?.rooms(in: section) ?? []
  }

  /// Returns the number of rooms in a section, visible or not.
  public func count(of section: RoomListSection) async -> Int { await client.core.roomList(id)?.count(of: section) ?? 0 }

  /// Returns a stream with the current list (`RoomListChange.reset`), then the steps of each change. Ends with the client.
  public func changes() async -> AsyncStream<[RoomListChange]> { await client.changes(of: id) }

  /// Shows the next page of a section, if the query has a `pageSize`.
  public func grow(_ section: RoomListSection) async { await client.growRoomList(id, section) }
}

extension MatrixClient {
  /// Opens a list of the account's rooms. Several lists can be open at once.
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

  /// The rooms that the user visited last (`MatrixRoom.visit()`), the latest first. The same on all devices of the account.
  public var breadcrumbs: [RoomID] { core.breadcrumbs.rooms }

  /// Returns whether the server can hide rooms until their next message (`MatrixRoom.hide()`).
  public func canHideRooms() async throws(ClientError) -> Bool { try await extensions().contains(.hide) }

  /// Hides all joined rooms, or these, until another user sends a message. Returns the number of rooms that were visible before. Servers
  /// without `martlet.hide` refuse it.
  @discardableResult
  public func hideRooms(_ rooms: [RoomID]? = nil) async throws(ClientError) -> Int {
    try await perform(.setHidden(true, rooms: rooms))
  }

  /// Shows all hidden rooms, or these. Returns the number of rooms that were hidden before.
  @discardableResult
  public func unhideRooms(_ rooms: [RoomID]? = nil) async throws(ClientError) -> Int {
    try await perform(.setHidden(false, rooms: rooms))
  }

  /// Returns the rooms with a tag, in the order of the tag.
  public func rooms(tagged name: ByteString) -> [RoomID] { core.rooms(tagged: name) }
}
