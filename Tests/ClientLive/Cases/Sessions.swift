import MatrixClient

/// Tokens and what becomes of them.
extension LiveCase {
  static let sessions = [
    LiveCase("A6 a spent access token is refreshed once for many queries, and none of them fails") { stage in
      let first = try await stage.user("alice")
      let session = try unwrap(await first.session, "session")
      guard let refreshToken = session.refreshToken else { throw NotAnnounced(what: "the login has no refresh_token") }
      await first.stop()
      let spent = Session(
        userID: session.userID, deviceID: session.deviceID, accessToken: "spent", refreshToken: refreshToken)
      let client = try await stage.restored(spent)
      try await withThrowingTaskGroup(of: UserID.self) { group in
        for _ in 0..<8 { group.addTask { try await client.whoAmI().userID } }
        for try await user in group { try expect(user, is: session.userID) }
      }
      let now = try unwrap(await client.session, "session")
      try expect(now.accessToken != "spent" && now.accessToken != session.accessToken, "a new access token")
      try expect(await client.sessionState, is: .signedIn)
    },
    LiveCase("A6 a refused refresh ends the session") { stage in
      let first = try await stage.user("alice")
      let session = try unwrap(await first.session, "session")
      await first.stop()
      let spent = Session(
        userID: session.userID, deviceID: session.deviceID, accessToken: "spent", refreshToken: "spent as well")
      let client = try await stage.restored(spent)
      _ = try await client.until("the session has ended") { client in client.sessionState == .signedIn ? nil : true }
    },
    LiveCase("A8 a session that is kept elsewhere goes on as the same device") { stage in
      let first = try await stage.user("alice")
      let session = try unwrap(await first.session, "session")
      let room = try await first.make(NewRoom(name: "Kept"))
      await first.stop()
      let client = try await stage.restored(session)
      try expect(try await client.whoAmI().deviceID, is: session.deviceID)
      let id = room.id
      _ = try await client.until("its room") { client in client.state(of: id) }
    },
    LiveCase("A8 a logout ends the token and empties the store") { stage in
      let store = MemoryStore()
      let first = try await stage.user("alice", store: store)
      let session = try unwrap(await first.session, "session")
      try await first.logOut()
      try expect(await first.sessionState, is: .signedOut)
      await first.stop()
      let again = await stage.keep(try MatrixClient(homeserver: stage.homeserver, store: store))
      try expect(await again.sessionState, is: .signedOut)
      try await expectDead(session, stage)
    },
    LiveCase("A8 a logout everywhere ends the sessions of all devices") { stage in
      let first = try await stage.user("alice")
      let second = try await stage.device(of: first)
      let session = try unwrap(await second.session, "session")
      try await first.logOutEverywhere()
      _ = try await second.until("the other device is signed out") { client in
        client.sessionState == .signedIn ? nil : true
      }
      try await expectDead(session, stage)
    },
    LiveCase("A8 what needs an account is not asked for without one") { stage in
      let client = await stage.keep(try MatrixClient(homeserver: stage.homeserver))
      do { _ = try await client.openIDToken() } catch ClientError.notSignedIn { return }
      throw Failure("it was asked")
    },
    LiveCase("S5 a query whose task is cancelled ends as cancelled") { stage in
      let client = try await stage.user("alice")
      let task = Task { try await client.whoAmI() }
      task.cancel()
      do { _ = try await task.value } catch ClientError.cancelled { return }
      throw Failure("it did not end as cancelled")
    }
  ]

  /// The server does not take the session's token any more.
  static func expectDead(_ session: Session, _ stage: Stage) async throws {
    let client = try await stage.restored(
      Session(
        userID: session.userID, deviceID: session.deviceID, accessToken: session.accessToken))
    _ = try await client.until("the token is refused") { client in client.sessionState == .signedIn ? nil : true }
  }
}
