import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// Who is in a room's call is in the room, signed in and not suspended, and moderates while they may remove others; also when a token is older than that.
extension CallServer {
  /// The role of the token's owner; nil for a session that is no room's. Throws `unauthorized` for a call in a room that the owner is not in
  /// (any more), or may not speak in.
  @discardableResult
  func requireMembership(_ token: ConnectionToken, _ session: CallSessions.Session) async throws -> Role? {
    guard let roomID = session.roomID else { return nil }
    do {
      guard let user = token.roomMember else { throw MatrixError.forbidden("The token is nobody's.") }
      guard let account = try await homeserver.accounts.account(user), !account.isDeactivated else {
        throw MatrixError.forbidden("There is no such account.")
      }
      try account.standing.requireUse(at: clock.now())
      if account.standing.isSuspended { throw MatrixError.userSuspended() }
      try await requireLogin(of: user, token)
      return try await rooms.callRole(of: user, in: roomID)
    } catch let error as MatrixError {
      throw CallRefusal(.unauthorized, error.message)
    }
  }

  /// Application services act for users who never sign in.
  private func requireLogin(of user: UserID, _ token: ConnectionToken) async throws {
    guard let device = token.roomDevice, !homeserver.appServices.all.contains(where: { $0.covers(user) }) else { return }
    guard try await homeserver.sessions.isLoggedIn(user, on: device) else {
      throw MatrixError.forbidden("This device has been signed out.")
    }
  }

  /// Whatever happened between the look at the room and the greeting found nobody yet.
  func follow(_ token: ConnectionToken, _ session: CallSessions.Session) async {
    guard let roomID = session.roomID, let user = token.roomMember else { return }
    await follow(user, in: roomID)
  }

  /// Follows a change of a room or an account for those who are in calls.
  func follow(_ change: CallChanges.Change) async {
    switch change {
    case .member(let user, let room): if let roomID = await roomID(room) { await follow(user, in: roomID) }
    case .powerLevels(let room): if let roomID = await roomID(room) { await follow(roomID) }
    case .account(let user): await follow(user)
    }
  }

  /// The ID of a room that may have a call here; nil if there are no calls, or no such room.
  private func roomID(_ room: RoomNumber) async -> RoomID? {
    guard live.values.contains(where: { $0.session.roomID != nil }) else { return nil }
    if let known = rooms.cache.cachedSnapshot(of: room) { return known.roomID }
    // If the database is stopping, so is everybody in a call.
    return try? await homeserver.database.read { [rooms] in try rooms.cache.snapshot(of: room, in: $0)?.roomID }
  }

  /// A user's account or devices have changed.
  private func follow(_ user: UserID) async {
    for session in live.values.map(\.session) {
      if let roomID = session.roomID { await follow(user, in: roomID) }
    }
  }

  /// The power levels of a room have changed.
  private func follow(_ roomID: RoomID) async {
    for (id, session) in live.mapValues(\.session) where session.roomID == roomID {
      let members = run(id) { state, _ in Set(state.tokens.values.compactMap(\.roomMember)) } ?? []
      for member in members { await follow(member, in: roomID) }
    }
  }

  /// Ends the connections of who may not be there any more, and gives the others the role that they have now.
  private func follow(_ user: UserID, in roomID: RoomID) async {
    for (id, session) in live.mapValues(\.session) where session.roomID == roomID {
      let tokens = run(id) { state, _ in state.tokens.filter { $0.value.roomMember == user } } ?? [:]
      for (connection, token) in tokens {
        do {
          guard let role = try await requireMembership(token, session) else { continue }
          run(id) { state, _ in state.setRole(role, of: connection) }
        } catch let refusal as CallRefusal {
          // No moderator of the call did it.
          run(id) { state, _ in try? state.disconnect(connection, refusal) }
        } catch {
          // The database is stopping, and everybody with it.
        }
      }
    }
  }
}
