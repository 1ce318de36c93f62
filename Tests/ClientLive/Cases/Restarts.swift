import MatrixClient

/// A store, and the program that ends and begins again.
extension LiveCase {
  static let restarts = [
    LiveCase("A8 a program that starts again has its rooms before the first answer") { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path))
      let room = try await first.make(NewRoom(name: "Kept on disk"))
      try await room.until("its name") { $0.name.english == "Kept on disk" }
      await first.stop()
      // Nobody answers there.
      let second = try await MatrixClient(homeserver: "http://127.0.0.1:1", store: try SQLiteStore(path: path))
      await stage.keep(second)
      try expect(await second.sessionState, is: .signedIn)
      try expect(await second.room(named: "Kept on disk")?.id, is: room.id)
    },
    LiveCase("S1 what was said while the program was away is there once, after what it had") { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path))
      let made = try await first.make(NewRoom(preset: .publicChat))
      let bob = try await stage.user("bob").room(made.id)
      try await bob.join()
      try await made.say("Before")
      await first.stop()
      for number in 1...5 { try await bob.say("While away \(number)") }
      let second = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path))
      await stage.keep(second)
      let room = second.room(made.id)
      _ = try await room.item(saying: "While away 5")
      try await bob.say("After")
      _ = try await room.item(saying: "After")
      let texts = try unwrap(await room.state, "room").timeline.items.compactMap(\.text)
      try expect(texts, is: ["Before"] + (1...5).map { "While away \($0)" } + ["After"])
    },
    LiveCase("S1 more than a page while the program was away leaves a gap that is filled on demand") { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path))
      let made = try await first.make(NewRoom(preset: .publicChat))
      let bob = try await stage.user("bob").room(made.id)
      try await bob.join()
      try await made.say("Before")
      await first.stop()
      let texts = (1...70).map { "Missed \($0)" }
      for text in texts { try await bob.send(text) }
      _ = try await bob.item(saying: "Missed 70")
      let second = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path))
      await stage.keep(second)
      let room = second.room(made.id)
      _ = try await room.item(saying: "Missed 70")
      try await room.fillGaps()
      let found = try unwrap(await room.state, "room").timeline.items.compactMap(\.text)
      try expect(found, is: ["Before"] + texts)
    },
    LiveCase("T3 a message that was not sent before the end goes out after the start, once") { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path))
      let made = try await first.make(NewRoom(preset: .publicChat))
      let bob = try await stage.user("bob").room(made.id)
      try await bob.join()
      await first.stop()
      let offline = try await MatrixClient(homeserver: "http://127.0.0.1:1", store: try SQLiteStore(path: path))
      try await offline.send("From the outbox", to: made.id)
      await offline.stop()
      let second = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path))
      await stage.keep(second)
      _ = try await bob.item(saying: "From the outbox")
      try await bob.say("Behind it")
      let texts = try unwrap(await bob.state, "room").timeline.items.compactMap(\.text)
      try expect(texts, is: ["From the outbox", "Behind it"])
    },
    LiveCase("A8 a store that is signed in goes on without a password, for nobody else") { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path))
      let session = try unwrap(await first.session, "session")
      await first.stop()
      do {
        _ = try await MatrixClient.logIn(
          to: stage.homeserver, user: "nobody", password: "wrong", store: try SQLiteStore(path: path))
        throw Failure("somebody else goes on")
      } catch ClientError.alreadySignedIn(session.userID) {}
      let second = try await MatrixClient.logIn(
        to: stage.homeserver, user: session.userID.string, password: "wrong", store: try SQLiteStore(path: path))
      await stage.keep(second)
      try expect(await second.session?.deviceID, is: session.deviceID)
    }
  ]
}

extension MatrixRoom {
  func fillGaps() async throws {
    for _ in 0..<100 {
      let gap = await state?.timeline.items.first { item in
        if case .gap = item.content { true } else { false }
      }
      guard let gap else { return }
      try await client.perform(.timeline(.fillGap(.live(id), gap.id)))
    }
    throw Failure("there is still a gap")
  }
}
