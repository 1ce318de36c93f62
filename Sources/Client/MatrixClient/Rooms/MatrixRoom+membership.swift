public import ClientCore
import JSON
public import MatrixModel

/// The membership of the user.
extension MatrixRoom {
  /// Joins the room. Returns when a sync has brought it, so that the app can read and send at once.
  public func join(via servers: [ServerName] = [], reason: String? = nil) async throws(ClientError) {
    _ = try await client.join(id.string, via: servers, reason: reason)
  }

  /// Leaves the room, declines an invitation or withdraws a knock.
  public func leave() async throws(ClientError) { try await client.perform(.rooms(.leave(id))) }

  /// Forgets the room. The user must have left it.
  public func forget() async throws(ClientError) { try await client.perform(.rooms(.forget(id))) }

  /// Returns to a room that the user has left. The client joins it. If that is not allowed, it rejoins without an invitation
  /// (`martlet.rejoin`), if server and room permit that.
  public func rejoin() async throws(ClientError) {
    do throws(ClientError) { return try await join() } catch {
      guard case .refused(403, _, _, _) = error, try await client.extensions().contains(.rejoin) else { throw error }
      _ = try await client.perform(.rejoin(id))
      try await join()
    }
  }

  /// Leaves and forgets the room.
  public func end() async throws(ClientError) {
    try await leave()
    try await forget()
  }

  /// Declines the invitation, and ignores the user who sent it.
  public func declineAndIgnore() async throws(ClientError) {
    if let inviter = await state?.inviter { try await client.ignore(inviter) }
    try await leave()
  }
}

/// The membership of others.
extension MatrixRoom {
  /// Invites a user. In an encrypted room that shows its history to later members they get its keys first (`shareHistory(with:)`); the invitation
  /// does not depend on that.
  public func invite(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    _ = try? await shareHistory(with: user)
    try await client.perform(.invite(user, to: id, reason: reason.map { ByteString($0) }))
  }

  /// Invites several users, in one request if the server offers it, otherwise one after the other. Returns the error of each user who could not be
  /// invited.
  @discardableResult
  public func invite(_ users: [UserID], reason: String? = nil) async throws(ClientError) -> [UserID: ClientError] {
    var errors: [UserID: ClientError] = [:]
    if try await client.extensions().contains(.bulk) {
      for start in stride(from: 0, to: users.count, by: Self.bulkLimit) {
        let some = Array(users[start..<min(start + Self.bulkLimit, users.count)])
        let answer = try await client.perform(.invite(some, to: id, reason: reason.map { ByteString($0) }))
        for (user, code) in answer.errors { errors[user] = .refused(status: 403, code: code, message: "") }
      }
      return errors
    }
    for user in users {
      do throws(ClientError) { try await invite(user, reason: reason) } catch { errors[user] = error }
    }
    return errors
  }

  private static let bulkLimit = 100

  /// Invites a person by an address of another network, see `Query.invite(address:medium:to:identityServer:accessToken:)`.
  public func invite(
    email: String, identityServer: String, accessToken: String
  ) async throws(ClientError) {
    try await client.perform(
      .invite(
        address: ByteString(email), medium: "email", to: id, identityServer: ByteString(identityServer),
        accessToken: ByteString(accessToken)))
  }

  /// Removes a user, withdraws an invitation or declines a knock.
  public func kick(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.people(.kick(id, user, reason: reason.map { ByteString($0) })))
  }

  public func ban(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.people(.ban(id, user, reason: reason.map { ByteString($0) })))
  }

  public func unban(_ user: UserID) async throws(ClientError) { try await client.perform(.people(.unban(id, user))) }

  // MARK: Knocking

  /// Returns a stream with the users who knock now, and a new list at each change. Loads the whole member list first.
  public func knockers() async throws(ClientError) -> AsyncStream<[Member]> {
    try await loadMembers()
    return await client.knockers(in: id)
  }

  public func accept(_ knocker: Member) async throws(ClientError) { try await invite(knocker.userID) }

  public func decline(_ knocker: Member, reason: String? = nil) async throws(ClientError) {
    try await kick(knocker.userID, reason: reason)
  }
}

/// The list of members.
extension MatrixRoom {
  /// Loads the whole member list into `Room.members`.
  public func loadMembers() async throws(ClientError) { try await client.perform(.people(.loadMembers(id))) }

  /// Returns all joined and invited members, in the order of their user IDs.
  public func members() async throws(ClientError) -> [Member] {
    try await loadMembers()
    return await state?.members ?? []
  }

  /// Returns the members whose name or ID contains the term. Ignores the case of Latin letters.
  public func members(matching term: String) async throws(ClientError) -> [Member] {
    let term = term.lowercased()
    return try await members().filter { member in
      (member.displayName?.string.lowercased().contains(term) ?? false) || member.userID.string.lowercased().contains(term)
    }
  }

  /// Returns a page of the members, see `Query.members`. Servers without `martlet.paging` refuse it.
  public func memberPage(
    membership: Membership = .join, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> MemberPage {
    try await client.perform(.members(of: id, membership: membership, limit: limit, from: from))
  }

  /// Returns the number of members who are online. Servers without `martlet.online` refuse it.
  public func onlineCount() async throws(ClientError) -> OnlineCount { try await client.perform(.onlineCount(of: id)) }

  /// Returns the number of messages since the user joined. Servers without `martlet.since_joined` refuse it.
  public func messagesSinceJoined() async throws(ClientError) -> Int {
    try await client.perform(.messagesSinceJoined(id))
  }
}

extension MatrixClient {
  func knockers(in id: RoomID) -> AsyncStream<[Member]> {
    observe(startingWith: state(of: id)?.knockingMembers ?? []) { change, client in
      guard case .room(id, let aspects) = change, aspects.contains(.members) else { return nil }
      return client.state(of: id)?.knockingMembers
    }
  }
}
