import Homeserver
import MatrixModel

/// Who is in a room's call is in the room, also when a token is older than that.
extension CallServer {
  /// Throws `unauthorized` for a call in a room that the token's owner is not in (any more).
  func requireMembership(_ token: ConnectionToken, _ session: CallSessions.Session) async throws {
    guard let roomID = session.roomID else { return }
    do {
      guard let user = token.roomMember else { throw MatrixError.forbidden("The token is nobody's.") }
      _ = try await rooms.joinedRoom(roomID, of: user)
    } catch let error as MatrixError {
      throw CallRefusal(.unauthorized, error.message)
    }
  }

  /// Whoever was removed between the look at the room and the greeting was not there to be expelled yet.
  func expelUnlessMember(_ token: ConnectionToken, _ session: CallSessions.Session) async {
    guard let roomID = session.roomID, let user = token.roomMember else { return }
    do { try await requireMembership(token, session) } catch { expel(user, from: roomID) }
  }

  /// Has whoever leaves a room, or is removed, leave its call too.
  nonisolated func watchRooms() {
    let expel: @Sendable (UserID, RoomID) -> Void = { [weak self] user, roomID in
      guard let self else { return }
      Task { await self.expel(user, from: roomID) }
    }
    rooms.hooks.withLock { hooks in
      hooks.appended.append { event, roomID, transaction in
        guard event.type == .member, Membership(event.content["membership"]) != .join, let key = event.stateKey else { return }
        let user = UserID(trusted: key)
        transaction.afterPublish { expel(user, roomID) }
      }
    }
  }

  private func expel(_ user: UserID, from roomID: RoomID) {
    for (id, session) in live.mapValues(\.session) where session.roomID == roomID {
      run(id) { brain, _ in
        for connection in brain.connections(where: { $0.roomMember == user }) { try? brain.disconnect(connection) }
      }
    }
  }
}
