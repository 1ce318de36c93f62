public import ClientCore
import JSON
public import MatrixModel

/// Functions to create and join rooms. Each returns when a sync has brought the room, so that the app can read and send at once.
///
/// A function throws `network` if the server has created or joined the room, but the connection is lost or no sync brings the room within a
/// minute. The room then comes with a later sync, and another call for the same direct chat finds it.
extension MatrixClient {
  /// The time limit for the sync that brings the room.
  static let arrivalSeconds = 60

  /// Creates a room. It is encrypted as `room` says, or else as the server wishes it: by itself servers wish it of private rooms.
  /// - Throws: `network` without a connection; no room was created then.
  public func createRoom(_ room: NewRoom = NewRoom()) async throws(ClientError) -> MatrixRoom {
    try await arrival(of: try await perform(.rooms(.create(room))))
  }

  /// Returns the direct chat with a user, and creates it if there is none. The same two users always get the same room. A new one is encrypted if the
  /// server wishes it and the other user has a device with keys.
  /// - Throws: `invalidUserID`, `ownUserID`; `network` if there is no direct chat yet and no connection.
  public func directChat(with user: UserID) async throws(ClientError) -> MatrixRoom {
    try await arrival(of: try await perform(.rooms(.openDirectChat(with: user.text))))
  }

  /// Returns the private room whose joined and invited members are exactly these users and the user of this client. If there are several, it is
  /// the room with the latest message. If there is none, creates it. With a single other user, returns the direct chat.
  /// - Parameter name: the name of the room if it is created.
  public func groupChat(with users: [UserID], name: String? = nil) async throws(ClientError) -> MatrixRoom {
    if users.count == 1 { return try await directChat(with: users[0]) }
    for candidate in core.roomsOf(memberCount: users.count + 1) {
      let room = room(candidate)
      try await room.loadMembers()
      if core.room(candidate)?.isRoom(ofJust: users) ?? false { return room }
    }
    return try await createRoom(NewRoom(name: name.map { ByteString($0) }, invited: users))
  }

  /// Joins a room.
  /// - Parameters:
  ///   - address: a room ID or alias.
  ///   - servers: servers that may know the room.
  public func join(
    _ address: String, via servers: [ServerName] = [], reason: String? = nil
  ) async throws(ClientError) -> MatrixRoom {
    let invited = RoomID(ByteString(address)).flatMap { core.room($0) }
    let id = try await perform(.rooms(.join(ByteString(address), via: servers, reason: reason.map { ByteString($0) })))
    // What they offer of the room's history is wanted now.
    if let invited, invited.membership == .invite, let inviter = invited.inviter {
      step { $0.handle(.accepted(invited.id, from: inviter), at: MatrixClient.now()) }
    }
    return try await arrival(of: id)
  }

  /// Knocks on a room.
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
