import MatrixClient

/// Finding rooms that the user has not joined.
extension LiveCase {
  static let directory = [
    LiveCase("R14 pages of the directory do not overlap, and have every room") { stage in
      let alice = try await stage.user("alice")
      let word = stage.fresh("shelf")
      var made: Set<RoomID> = []
      for number in 0..<5 {
        let room = try await alice.make(NewRoom(preset: .publicChat, name: ByteString("\(word) \(number)")))
        try await room.setPublished(true)
        made.insert(room.id)
      }
      var found: [RoomID] = []
      var since: ByteString?
      repeat {
        let page = try await alice.publicRooms(matching: word, limit: 2, since: since)
        try expect(page.rooms.count <= 2, "at most two on a page")
        found += page.rooms.map(\.id)
        since = page.nextBatch
      } while since != nil && found.count < 20
      try expect(found.count, is: 5)
      try expect(Set(found), is: made)
    },
    LiveCase("R14 a search of the directory finds by the name and nothing else") { stage in
      let alice = try await stage.user("alice")
      let word = stage.fresh("needle")
      let room = try await alice.make(NewRoom(preset: .publicChat, name: ByteString("A \(word) in hay")))
      try await room.setPublished(true)
      try expect(try await alice.publicRooms(matching: word).rooms.map(\.id), is: [room.id])
      try expect(try await alice.publicRooms(matching: stage.fresh("none")).rooms.map(\.id), is: [])
    },
    LiveCase("R7 a room is published and taken out of the directory") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom(preset: .publicChat))
      try await room.setPublished(true)
      try expect(try await room.isPublished(), "published")
      try await room.setPublished(false)
      try expect(try await !room.isPublished(), "not published")
    },
    LiveCase("R15 a public room is summed up for those outside", needs: .version(minor: 15)) { stage in
      let (alice, _) = try await stage.pair(NewRoom(preset: .publicChat, name: "Seen from outside", topic: "Windows"))
      let carol = try await stage.user("carol")
      let summary = try await carol.roomSummary(alice.id.string)
      try expect(summary.id, is: alice.id)
      try expect(summary.name, is: "Seen from outside")
      try expect(summary.topic, is: "Windows")
      try expect(summary.memberCount, is: 2)
      try expect(summary.joinRule, is: .public)
    },
    LiveCase("R15 a room that the user may not see has no summary", needs: .version(minor: 15)) { stage in
      let room = try await stage.user("alice").make(NewRoom())
      let carol = try await stage.user("carol")
      try await expectRefusal("M_NOT_FOUND", "M_FORBIDDEN") { _ = try await carol.roomSummary(room.id.string) }
    },
    LiveCase("R16 an event is reported") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Something bad")
      _ = try await bob.item(saying: "Something bad")
      try await bob.report(event, reason: "It is bad")
    },
    LiveCase("R16 a room is reported", needs: .version(minor: 13)) { stage in
      let (_, bob) = try await stage.pair()
      try await bob.report(reason: "All of it is bad")
    },
    LiveCase("R16 a user is reported", needs: .version(minor: 14)) { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.client.report(try await alice.client.ownID, reason: "Bad manners")
    },
    LiveCase("R20 without bridges there are no protocols of other networks") { stage in
      try expect(try await stage.user("alice").thirdPartyProtocols().count, is: 0)
    }
  ]
}
