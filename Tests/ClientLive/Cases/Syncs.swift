import MatrixClient

/// Both ways of syncing, and from one to the other.
extension LiveCase {
  static let syncs = inEachMode + ofSliding

  private static let inEachMode = [SyncMode.v3, .sliding].flatMap { mode in
    let way = mode == .v3 ? "v3" : "sliding"
    let need: Need? = mode == .sliding ? .slidingSync : nil
    return [
      LiveCase("S1 (\(way)) an account is told to a new device as another one knows it", needs: need) { stage in
        let alice = try await stage.user("alice", syncMode: mode)
        let room = try await alice.make(NewRoom(preset: .publicChat, name: "Shared"))
        let bob = try await stage.user("bob", syncMode: mode)
        try await bob.room(room.id).join()
        let bobName = ByteString(String(try await bob.ownID.string.dropFirst().prefix { $0 != ":" }))
        let unnamed = try await alice.make(NewRoom(invited: [try await bob.ownID]))
        try await room.say("Hello")
        let other = try await stage.device(of: alice, syncMode: mode)
        let shared = try unwrap(await other.state(of: room.id), "room")
        try expect(shared.name.english, is: "Shared")
        try expect(shared.joinedMemberCount, is: 2)
        try expect(shared.preview?.content?.body, is: "Hello")
        let second = try unwrap(await other.state(of: unnamed.id), "room")
        try expect(second.name.english, is: bobName)
        try expect(Set(await other.rooms.map(\.id)), is: [room.id, unnamed.id])
        let invited = try await bob.until("the invitation") { $0.state(of: unnamed.id) }
        try expect(invited.membership, is: .invite)
        try expect(invited.inviter, is: try await alice.ownID)
      },
      LiveCase("S4 (\(way)) what was missed is a gap, and filled on demand", needs: need) { stage in
        let path = stage.folder.path + "/store"
        let first = try await stage.user("alice", store: try SQLiteStore(path: path), syncMode: mode)
        let made = try await first.make(NewRoom(preset: .publicChat))
        let bob = try await stage.user("bob", syncMode: mode).room(made.id)
        try await bob.join()
        try await made.say("Before")
        await first.stop()
        let texts = (1...60).map { "Missed \($0)" }
        for text in texts { try await bob.send(text) }
        _ = try await bob.item(saying: "Missed 60")
        let second = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path), syncMode: mode)
        await stage.keep(second)
        try await second.waitForSync()
        let room = second.room(made.id)
        _ = try await room.item(saying: "Missed 60")
        try await room.fillGaps()
        let found = try unwrap(await room.state, "room").timeline.items.compactMap(\.text)
        try expect(found, is: ["Before"] + texts)
      },
      LiveCase("S5 (\(way)) a pause and the time after it lose nothing and double nothing", needs: need) { stage in
        let alice = try await stage.user("alice", syncMode: mode)
        let made = try await alice.make(NewRoom(preset: .publicChat))
        let bob = try await stage.user("bob", syncMode: mode).room(made.id)
        try await bob.join()
        try await made.say("One")
        try await alice.pause()
        if case .idle = await alice.connectionState {} else { throw Failure("it is not idle") }
        try await bob.say("Two")
        try await alice.send("Three", to: made.id)
        try await alice.resume()
        _ = try await made.item(saying: "Three")
        await alice.networkChanged(isOnline: false)
        if case .offline = await alice.connectionState {} else { throw Failure("it is not offline") }
        try await bob.say("Four")
        await alice.networkChanged(isOnline: true)
        _ = try await made.item(saying: "Four")
        let texts = try unwrap(await made.state, "room").timeline.items.compactMap(\.text)
        try expect(texts, is: ["One", "Two", "Three", "Four"])
        _ = try await alice.until("it to run") { client in
          if case .running = client.connectionState { true } else { nil }
        }
      },
      LiveCase("S7 (\(way)) clearing brings the same rooms", needs: need) { stage in
        let alice = try await stage.user("alice", syncMode: mode)
        for number in 1...3 {
          let name = ByteString("Room \(number)")
          try await alice.make(NewRoom(name: name)).until("its name") { $0.name.english == name }
        }
        let rooms = await alice.rooms.map(\.name.english)
        try await alice.startAfresh()
        try expect(await alice.rooms.map(\.name.english), is: rooms)
        try expect(await alice.syncProgress.fraction, is: 1)
      },
      LiveCase("S1 (\(way)) rooms that were left elsewhere while the program was away are gone", needs: need) { stage in
        let path = stage.folder.path + "/store"
        let first = try await stage.user("alice", store: try SQLiteStore(path: path), syncMode: mode)
        let left = try await first.make(NewRoom(name: "Left"))
        let kept = try await first.make(NewRoom(name: "Kept"))
        let other = try await stage.device(of: first, syncMode: mode)
        await first.stop()
        try await other.room(left.id).leave()
        let second = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path), syncMode: mode)
        await stage.keep(second)
        _ = try await second.until("the room to be gone") { $0.rooms.map(\.id) == [kept.id] ? true : nil }
      }
    ]
  }

  private static let ofSliding = [
    LiveCase("S2 the first 20 rooms are shown before the rest loads", needs: .slidingSync) { stage in
      let alice = try await stage.user("alice", syncMode: .sliding)
      for number in 1...24 { try await alice.perform(.rooms(.create(NewRoom(name: ByteString("Room \(number)"))))) }
      let session = try await stage.device(of: alice).session
      let other = try await MatrixClient(homeserver: stage.homeserver, syncMode: .sliding)
      await stage.keep(other)
      let states = await other.connectionStates()
      try await other.perform(.session(.restore(try unwrap(session, "session"))))
      var early: [ByteString] = []
      var fractions: [Double] = []
      for await state in states {
        if case .firstSync(let progress) = state {
          fractions.append(progress.fraction)
          if early.isEmpty { early = await other.rooms.map(\.name.english) }
          try expect(progress.totalRooms, is: 24)
        }
        if case .running = state { break }
      }
      try expect(early.count >= 20, "\(early.count) rooms came early")
      try expect(fractions == fractions.sorted() && fractions.first == 20.0 / 24, "\(fractions)")
      try expect(
        Array(await other.rooms.map(\.name.english).prefix(20)), is: (5...24).reversed().map { ByteString("Room \($0)") })
      try expect(await other.rooms.count, is: 24)
    },
    LiveCase("S2 a room that is opened has a longer timeline than the list", needs: .slidingSync) { stage in
      let (alice, _) = try await stage.pair()
      let texts = (1...30).map { "Message \($0)" }
      for text in texts { try await alice.send(text) }
      _ = try await alice.item(saying: "Message 30")
      let other = try await stage.device(of: alice.client, syncMode: .sliding).room(alice.id)
      let listed = try await other.until("the last message") { $0.preview?.content?.body == "Message 30" }
      try expect(listed.timeline.items.count, is: 0)
      _ = try await other.item(saying: "Message 1")
      try expect(try unwrap(await other.state, "room").timeline.items.compactMap(\.text), is: texts)
    },
    LiveCase("S2 a change of the way of syncing loses nothing and doubles nothing", needs: .slidingSync) { stage in
      let path = stage.folder.path + "/store"
      let first = try await stage.user("alice", store: try SQLiteStore(path: path), syncMode: .v3)
      let made = try await first.make(NewRoom(preset: .publicChat, name: "Kept"))
      let bob = try await stage.user("bob").room(made.id)
      try await bob.join()
      try await made.say("Message 0")
      await first.stop()
      for (i, mode) in [SyncMode.sliding, .v3, .sliding, .sliding].enumerated() {
        try await bob.say("Message \(i + 1)")
        let next = try await MatrixClient(homeserver: stage.homeserver, store: try SQLiteStore(path: path), syncMode: mode)
        await stage.keep(next)
        let room = next.room(made.id)
        _ = try await room.item(saying: "Message \(i + 1)")
        let state = try unwrap(await room.state, "room")
        try expect(state.timeline.items.compactMap(\.text), is: (0...(i + 1)).map { "Message \($0)" })
        try expect(state.name.english, is: "Kept")
        try expect(await next.rooms.count, is: 1)
        await next.stop()
      }
    }
  ]
}
