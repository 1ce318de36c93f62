import MatrixClient

/// Spaces and what is in them.
extension LiveCase {
  static let spaces = [
    LiveCase("P1 a space is made with its name and topic, and is a space to everybody") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let space = try await alice.createSpace(.space(preset: .publicChat, name: "Company", topic: "All of us"))
      try await bob.room(space.id).join()
      let seen = try await bob.room(space.id).until("the space") { $0.isSpace && $0.topic == "All of us" }
      try expect(seen.name.english, is: "Company")
      try expect(await alice.topLevelSpaces, is: [space.id])
      // Nobody but its owners says anything there.
      try expect(seen.powerLevels?.canSend(.message, by: try await bob.ownID), is: false)
    },
    LiveCase("P1 rooms of a space and its subspaces are its rooms, others are in none") { stage in
      let alice = try await stage.user("alice")
      let top = try await alice.createSpace(.space(name: "Top"))
      let low = try await alice.createSpace(.space(name: "Low"))
      let room = try await alice.make(NewRoom(name: "Room"))
      let alone = try await alice.make(NewRoom(name: "Alone"))
      try await top.addChild(low.id)
      try await low.addChild(room.id, setsParent: true)
      // A circle.
      try await low.addChild(top.id)
      let graph = try await alice.until("the tree") { client in
        let graph = client.spaces
        let isWhole = graph.children(of: low.id).count == 2 && graph.isInSpace(low.id)
        return isWhole && client.canonicalParent(of: room.id) == low.id ? graph : nil
      }
      try expect(graph.rooms(in: top.id), is: [low.id, room.id])
      try expect(graph.ancestors(of: room.id), is: [top.id, low.id].sorted())
      try expect(await alice.orphanRooms, is: [alone.id])
      let list = await alice.roomList(RoomListQuery(filter: RoomListFilter(place: .inSpace(top.id))))
      try expect(await list.rooms(in: .rooms), is: [room.id])
    },
    LiveCase("P1 what is unread in a space is counted") { stage in
      let (made, joined) = try await stage.pair()
      let space = try await joined.client.createSpace(.space(name: "Mine"))
      try await space.addChild(joined.id)
      _ = try await joined.client.until("the child") { $0.spaces.isInSpace(joined.id) ? true : nil }
      try await made.send("one")
      try await made.send("two")
      let id = space.id
      _ = try await joined.client.until("two unread") { $0.spaces.counts(of: id).notifications == 2 ? true : nil }
      try await joined.markUnread()
      try expect(await joined.client.spaces.counts(of: id).unreadRooms, is: 1)
      let item = try await joined.item(saying: "two")
      try await joined.client.perform(.reading(.viewed(joined.id, upTo: item.id)))
      _ = try await joined.client.until("nothing unread") { $0.spaces.counts(of: id).unreadRooms == 0 ? true : nil }
    },
    LiveCase("P2 a child is suggested, ordered and taken out") { stage in
      let alice = try await stage.user("alice")
      let space = try await alice.createSpace(.space(name: "Space"))
      var rooms: [MatrixRoom] = []
      for name in ["A", "B", "C"] as [ByteString] { rooms.append(try await alice.make(NewRoom(name: name))) }
      for room in rooms { try await space.addChild(room.id) }
      let ids = rooms.map(\.id)
      try await alice.until(children: ids, of: space.id)
      try await space.moveChild(ids[2], to: 0)
      try await alice.until(children: [ids[2], ids[0], ids[1]], of: space.id)
      try await space.setChild(ids[0], SpaceChildChange(isSuggested: true))
      try await space.until("the suggestion") { $0.spaceChildren.filter(\.isSuggested).map(\.roomID) == [ids[0]] }
      try await space.removeChild(ids[1])
      try await alice.until(children: [ids[2], ids[0]], of: space.id)
      let page = try await space.hierarchy(suggestedOnly: true)
      try expect(page.entries.map(\.room.id), is: [space.id, ids[0]])
    },
    LiveCase("P2 the children of a space come by pages, none twice") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let space = try await alice.createSpace(.space(preset: .publicChat, name: "Space"))
      var ids: [RoomID] = []
      for _ in 0..<4 {
        let room = try await alice.make(NewRoom(preset: .publicChat))
        try await space.addChild(room.id)
        ids.append(room.id)
      }
      try await bob.room(space.id).join()
      var pages = bob.room(space.id).hierarchyPages(limit: 2)
      var found: [RoomID] = []
      while let page = try await pages.next() {
        try expect(page.entries.count <= 2, "pages of two")
        found += page.entries.map(\.room.id)
      }
      try expect(found, is: [space.id] + ids)
      try expect(pages.isAtEnd, "the end")
    },
    LiveCase("P2 a public child is seen by the members of a space, a private one is not, and one taken out no more") { stage in
      let (alice, bob) = try await stage.pair(.space(preset: .publicChat, name: "Space"))
      let open = try await alice.client.make(NewRoom(preset: .publicChat, name: "Open"))
      let closed = try await alice.client.make(NewRoom(preset: .privateChat, name: "Closed"))
      try await alice.addChild(open.id)
      try await alice.addChild(closed.id)
      try expect(try await bob.hierarchy().entries.map(\.room.id), is: [alice.id, open.id])
      try expect(Set(try await alice.hierarchy().entries.map(\.room.id)), is: [alice.id, open.id, closed.id])
      try await alice.removeChild(open.id)
      try expect(try await bob.hierarchy().entries.map(\.room.id), is: [alice.id])
    },
    LiveCase("P2 a restricted child is seen by the members of a space, and one taken out no more") { stage in
      let (alice, bob) = try await stage.pair(.space(preset: .publicChat, name: "Space"))
      let room = try await alice.client.make(NewRoom(preset: .privateChat, name: "Members"))
      try await room.setJoinRule(.restricted, membersOf: [alice.id])
      try await alice.addChild(room.id)
      try expect(try await bob.hierarchy().entries.map(\.room.id), is: [alice.id, room.id])
      try await bob.client.room(room.id).join()
      try await alice.removeChild(room.id)
      try expect(try await bob.hierarchy().entries.map(\.room.id), is: [alice.id])
    },
    LiveCase("P2 an upgraded room stands in the place of the old one in its spaces") { stage in
      let (alice, bob) = try await stage.pair(.space(preset: .publicChat, name: "Space"))
      let rooms = [try await alice.client.make(NewRoom(name: "First")), try await alice.client.make(NewRoom(name: "Last"))]
      try await alice.addChild(rooms[0].id, order: "a", isSuggested: true, setsParent: true)
      try await alice.addChild(rooms[1].id, order: "b")
      try await alice.client.until(children: rooms.map(\.id), of: alice.id)
      let new = try await rooms[0].upgrade()
      for room in [alice, bob] { try await room.client.until(children: [new.id, rooms[1].id], of: alice.id) }
      try expect(await bob.state?.spaceChildren.first?.isSuggested, is: true)
      _ = try await alice.client.until("the main space") { $0.canonicalParent(of: new.id) == alice.id ? true : nil }
    },
    LiveCase("P2 who may not put rooms into a space is told so") { stage in
      let (alice, bob) = try await stage.pair(.space(preset: .publicChat, name: "Space"))
      let room = try await bob.client.make(NewRoom())
      do {
        try await bob.addChild(room.id)
        throw Failure("it was not refused")
      } catch ClientError.notAllowed {}
      try expect(await alice.client.spaces.children(of: alice.id), is: [])
    }
  ]
}

extension MatrixClient {
  fileprivate func until(children: [RoomID], of space: RoomID) async throws {
    _ = try await until("the children") { $0.spaces.children(of: space) == children ? true : nil }
  }
}
