public import ClientCore
import JSON
public import MatrixModel

/// Making rooms and coming into them. Each ends when a sync has brought the room, so that it can be read and written at once.
///
/// Where the server has made or joined the room and the connection is lost before a sync brings it, or none does within a minute, the function
/// throws `network`: the room comes with a later sync, and asking for the same direct chat again finds it.
extension MatrixClient {
  /// How long a sync may take to bring what the server has just done.
  static let arrivalSeconds = 60

  /// - Throws: `network` without a connection: nothing was made then.
  public func createRoom(_ room: NewRoom = NewRoom()) async throws(ClientError) -> MatrixRoom {
    try await arrival(of: try await perform(.rooms(.create(room))))
  }

  /// The room of the direct chat with somebody; it is made where there is none, and the same pair always gets the same one.
  /// - Throws: `invalidUserID`, `ownUserID`; `network` without a connection where there is none yet.
  public func directChat(with user: UserID) async throws(ClientError) -> MatrixRoom {
    try await arrival(of: try await perform(.rooms(.openDirectChat(with: user.text))))
  }

  /// The private room of just these people and oneself, in or invited, the one with the latest message of several; made where there is
  /// none. With one of them it is the direct chat.
  /// - Parameter name: of a room that is made.
  public func groupChat(with users: [UserID], name: String? = nil) async throws(ClientError) -> MatrixRoom {
    if users.count == 1 { return try await directChat(with: users[0]) }
    for candidate in core.roomsOf(memberCount: users.count + 1) {
      let room = room(candidate)
      try await room.loadMembers()
      if core.room(candidate)?.isRoom(ofJust: users) ?? false { return room }
    }
    return try await createRoom(NewRoom(name: name.map { ByteString($0) }, invited: users))
  }

  /// - Parameters:
  ///   - address: a room ID or alias.
  ///   - servers: that may know the room.
  public func join(
    _ address: String, via servers: [ServerName] = [], reason: String? = nil
  ) async throws(ClientError) -> MatrixRoom {
    try await arrival(
      of: try await perform(.rooms(.join(ByteString(address), via: servers, reason: reason.map { ByteString($0) }))))
  }

  /// Asks to be let in.
  /// - Parameter address: a room ID or alias.
  public func knock(
    on address: String, via servers: [ServerName] = [], reason: String? = nil
  ) async throws(ClientError) -> MatrixRoom {
    let query = Query<RoomID>.knock(ByteString(address), via: servers, reason: reason.map { ByteString($0) })
    return room(try await perform(query))
  }

  func arrival(of id: RoomID?) async throws(ClientError) -> MatrixRoom {
    guard let id else { throw .badAnswer }
    await wait(atMost: Self.arrivalSeconds) { client in
      if client.room(id)?.membership == .join || client.sessionState != .signedIn { return true }
      return switch client.connection {
      case .reconnecting, .offline: true
      case .idle, .connecting, .firstSync, .running: false
      }
    }
    if core.room(id)?.membership == .join { return room(id) }
    guard !Task.isCancelled, !isStopped else { throw .cancelled }
    guard core.sessionState == .signedIn else { throw .notSignedIn }
    throw .network
  }
}
