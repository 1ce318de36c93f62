public import ClientCore
import JSON
public import MatrixModel

/// Being in a room.
extension MatrixRoom {
  /// Ends when a sync has brought the room, so that it can be written and read at once.
  public func join(via servers: [ServerName] = [], reason: String? = nil) async throws(ClientError) {
    _ = try await client.join(id.string, via: servers, reason: reason)
  }

  /// Also declines an invitation and withdraws a knock.
  public func leave() async throws(ClientError) { try await client.perform(.rooms(.leave(id))) }

  /// Once one has left it.
  public func forget() async throws(ClientError) { try await client.perform(.rooms(.forget(id))) }

  /// Back into a room that one has left oneself: by joining it or, where that is not allowed and server and room let one, without an
  /// invitation (`martlet.rejoin`).
  public func rejoin() async throws(ClientError) {
    do throws(ClientError) { return try await join() } catch {
      guard case .refused(403, _, _, _) = error, try await client.extensions().contains(.rejoin) else { throw error }
      _ = try await client.perform(.rejoin(id))
      try await join()
    }
  }

  /// Out of a conversation: one leaves, and forgets what was said.
  public func end() async throws(ClientError) {
    try await leave()
    try await forget()
  }

  /// Leaves, and ignores who invited one.
  public func declineAndIgnore() async throws(ClientError) {
    if let inviter = await state?.inviter { try await client.ignore(inviter) }
    try await leave()
  }
}

/// Others in a room.
extension MatrixRoom {
  public func invite(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.invite(user, to: id, reason: reason.map { ByteString($0) }))
  }

  /// Each has a result of their own. In one request where the server offers that, else one after the other.
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

  /// By an address of another network, see `Query.invite(address:medium:to:identityServer:accessToken:)`.
  public func invite(
    email: String, identityServer: String, accessToken: String
  ) async throws(ClientError) {
    try await client.perform(
      .invite(
        address: ByteString(email), medium: "email", to: id, identityServer: ByteString(identityServer),
        accessToken: ByteString(accessToken)))
  }

  /// Also withdraws an invitation and declines a knock.
  public func kick(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.people(.kick(id, user, reason: reason.map { ByteString($0) })))
  }

  public func ban(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.people(.ban(id, user, reason: reason.map { ByteString($0) })))
  }

  public func unban(_ user: UserID) async throws(ClientError) { try await client.perform(.people(.unban(id, user))) }

  // MARK: Knocking

  /// Who asks to be let in, now and whenever it is different. The whole member list is loaded first.
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
  /// Has the whole member list loaded; `Room.members` then has it.
  public func loadMembers() async throws(ClientError) { try await client.perform(.people(.loadMembers(id))) }

  /// All members, in or invited, in user ID order.
  public func members() async throws(ClientError) -> [Member] {
    try await loadMembers()
    return await state?.members ?? []
  }

  /// Members whose name or ID has the term in it, whatever the case of Latin letters.
  public func members(matching term: String) async throws(ClientError) -> [Member] {
    let term = term.lowercased()
    return try await members().filter { member in
      (member.displayName?.string.lowercased().contains(term) ?? false) || member.userID.string.lowercased().contains(term)
    }
  }

  /// A page of them, see `Query.members`; servers without `martlet.paging` refuse it.
  public func memberPage(
    membership: Membership = .join, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> MemberPage {
    try await client.perform(.members(of: id, membership: membership, limit: limit, from: from))
  }

  /// How many members are there; servers without `martlet.online` refuse it.
  public func onlineCount() async throws(ClientError) -> OnlineCount { try await client.perform(.onlineCount(of: id)) }

  /// How many messages it has had since one joined; servers without `martlet.since_joined` refuse it.
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
