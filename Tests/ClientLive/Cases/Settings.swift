import MatrixClient

/// How rooms are set up, and what stands in them.
extension LiveCase {
  static let settings = [
    LiveCase("R7 join rule, visibility of history and guests are set, and seen") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.setJoinRule(.invite)
      try await alice.setHistoryVisibility(.joined)
      try await alice.setAllowsGuests(true)
      try await bob.until("all of it") {
        $0.joinRule == .invite && $0.historyVisibility == .joined && $0.allowsGuests
      }
      try await bob.leave()
      try await bob.until("he is out") { $0.membership == .leave }
      try await expectRefusal("M_FORBIDDEN") { try await bob.join() }
    },
    LiveCase("R7 a restricted room is open to members of the other room only") { stage in
      let (hall, guest) = try await stage.pair()
      let room = try await hall.client.createRoom()
      try await room.setJoinRule(.restricted, membersOf: [hall.id])
      try await room.until("the rule") { $0.allowedRooms == [hall.id] }
      let stranger = try await stage.user("stranger")
      try await expectRefusal("M_FORBIDDEN") { try await stranger.room(room.id).join() }
      try await guest.client.room(room.id).join()
    },
    LiveCase("R6 a room has a picture, and addresses beside the main one") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom(NewRoom(name: "Tea"))
      try await room.setAvatar(path: try stage.folder.file("face.png", Picture.png), mimeType: "image/png")
      try await room.until("the picture") { $0.avatar != nil }
      try await room.setAvatar(nil)
      try await room.until("no picture") { $0.avatar == nil }
      let server = try await alice.ownID.serverName
      let main = try unwrap(RoomAlias("#\(stage.fresh("main")):\(server)"), "alias")
      let other = try unwrap(RoomAlias("#\(stage.fresh("other")):\(server)"), "alias")
      try await room.addAlias(main)
      try await room.addAlias(other)
      try await room.setCanonicalAlias(main, alternatives: [other])
      try await room.until("the addresses") { $0.canonicalAlias == main && $0.alternativeAliases == [other] }
    },
    LiveCase("R13 an upgraded room leads to the new one, and that one back") { stage in
      let (alice, bob) = try await stage.pair()
      let new = try await alice.upgrade()
      try await bob.until("the link") { $0.successor == new.id }
      try expect(await new.state?.predecessor, is: alice.id)
      try await bob.client.room(new.id).join()
    },
    LiveCase("R15 a room that anybody may read is seen without joining, another is not") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom(NewRoom(preset: .publicChat, name: "Glass", topic: "See through"))
      try await room.setHistoryVisibility(.worldReadable)
      try await room.send("Hello out there").sent()
      let bob = try await stage.user("bob")
      let peek = try await bob.room(room.id).peek()
      try expect(peek.name, is: "Glass")
      try expect(peek.topic, is: "See through")
      try expect(peek.joinedMemberCount, is: 1)
      try expect(peek.messages.events.contains { $0.content["body"]?.string == "Hello out there" }, "what was said")
      try expect(await bob.state(of: room.id) == nil, "not in it")
      try await room.setHistoryVisibility(.shared)
      try await expectRefusal("M_FORBIDDEN", "M_GUEST_ACCESS_FORBIDDEN") { _ = try await bob.room(room.id).peek() }
    },
    LiveCase("R12 account data changes are told on other devices, with tagged events among them") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom()
      let event = try await room.send("Keep this").sent()
      let other = try await stage.device(of: alice)
      let changes = await other.accountDataChanges()
      try await room.tag(event, as: "m.favourite")
      for await change in changes where change.event.type == TaggedEvents.type {
        try expect(TaggedEvents(change.event.content).has(event, tag: "m.favourite"), "it is tagged")
        break
      }
      try await room.untag(event, as: "m.favourite")
      try expect(try await other.room(room.id).taggedEvents().tags.isEmpty, "it is not")
    },
    LiveCase("T15 a message is pinned, shown among the pins, and taken off") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Remember")
      try await alice.pin(event)
      try await bob.until("the pin") { $0.pinnedEvents == [event] }
      let pins = bob.timeline(.pinned)
      for await _ in try await pins.changes() where await pins.items.first?.text == "Remember" { break }
      try expect(await bob.can(.pin), is: false)
      do {
        try await bob.unpin(event)
        throw Failure("it was asked for")
      } catch ClientError.notAllowed {}
      try await alice.unpin(event)
      try await bob.until("no pin") { $0.pinnedEvents.isEmpty }
    },
    LiveCase("T14 the handle of a timeline gives its items, pages it and follows it") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom()
      for number in 1...30 { try await room.send("Turn \(number)").sent() }
      let device = try await stage.device(of: alice)
      let timeline = device.room(room.id).timeline()
      let changes = try await timeline.changes()
      while try await timeline.paginateBack() {}
      try expect(await timeline.items.compactMap(\.text).filter { $0.hasPrefix("Turn") }.count, is: 30)
      try await room.send("The last").sent()
      for await _ in changes where await timeline.items.last?.text == "The last" { break }
      let middle = try unwrap(await timeline.items.first { $0.text == "Turn 15" }?.eventID, "event")
      let around = device.room(room.id).timeline(.event(middle))
      try await around.open()
      try expect(await around.items.contains { $0.text == "Turn 15" }, "it is there")
      while try await around.paginateForward() {}
      try expect(await around.items.last?.text, is: "The last")
      try await around.close()
      try expect(await around.items.isEmpty, "closed")
    },
    // Proves C54
    LiveCase("T17 an event's source is the server's, the second time without asking") { stage in
      let room = try await stage.user("alice").createRoom()
      let event = try await room.send("org.example.odd", Array(#"{"b":{"kept":[1]},"a":null}"#.utf8)).sent()
      let first = try await room.source(of: event)
      try expect(first.json?["content"]?["b"]?["kept"]?.count, is: 1)
      try expect(try await room.source(of: event).bytes, is: first.bytes)
    },
    LiveCase("T18 state of a custom type is set under a key") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.setState("org.example.board", key: "one", Array(#"{"x":1}"#.utf8))
      try expect(try await bob.stateContent("org.example.board", key: "one")["x"]?.integer, is: 1)
      try expect(try await bob.allState().contains { $0.type == "org.example.board" }, "it is among all")
    },
    LiveCase("R9 members are looked for by name") { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.client.setDisplayName("Robert Tea")
      let user = try await bob.client.ownID
      try await alice.loadMembers()
      try await alice.until("his name") { $0.displayName(of: user) == "Robert Tea" }
      try expect(try await alice.members(matching: "rob").map(\.userID), is: [user])
      try expect(try await alice.members().count, is: 2)
    }
  ]
}
