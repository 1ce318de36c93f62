import MatrixClient

/// Making, finding and describing rooms.
extension LiveCase {
  static let rooms = [
    LiveCase("R1 a room is made with its name, topic, alias and guests") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let localpart = stage.fresh("tea")
      let room = try await alice.make(
        NewRoom(
          preset: .privateChat, name: "Tea", topic: "Only tea", aliasLocalpart: ByteString(localpart),
          invited: [try await bob.ownID]))
      let state = try await room.until("the whole room") { $0.invitedMemberCount == 1 && $0.canonicalAlias != nil }
      try expect(state.name.english, is: "Tea")
      try expect(state.topic, is: "Only tea")
      try expect(state.canonicalAlias?.string.hasPrefix("#\(localpart):") == true, "its alias")
      try expect(state.joinedMemberCount, is: 1)
      try expect(try await room.stateContent("m.room.join_rules")["join_rule"]?.string, is: "invite")
    },
    LiveCase("R1 a public room is one that anybody may join") { stage in
      let (_, bob) = try await stage.pair()
      try expect(try await bob.stateContent("m.room.join_rules")["join_rule"]?.string, is: "public")
    },
    LiveCase("R1 an alias that is taken is refused") { stage in
      let alice = try await stage.user("alice")
      let localpart = ByteString(stage.fresh("once"))
      _ = try await alice.make(NewRoom(aliasLocalpart: localpart))
      try await expectRefusal("M_ROOM_IN_USE") { _ = try await alice.make(NewRoom(aliasLocalpart: localpart)) }
    },
    LiveCase("R6 a name and a topic are seen by everybody in the room") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.setName("Renamed")
      try await alice.setTopic("Rethought")
      let seen = try await bob.until("both") { $0.name.english == "Renamed" && $0.topic == "Rethought" }
      try expect(seen.id, is: alice.id)
    },
    LiveCase("R6 an alias is added, resolved, listed and taken away") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom())
      let server = try await alice.ownID.serverName
      let alias = try unwrap(RoomAlias("#\(stage.fresh("alias")):\(server)"), "alias")
      try await room.addAlias(alias)
      try expect(try await alice.resolve(alias).roomID, is: room.id)
      try expect(try await room.localAliases(), is: [alias])
      try await alice.deleteAlias(alias)
      try await expectRefusal("M_NOT_FOUND") { _ = try await alice.resolve(alias) }
    },
    LiveCase("R9 a room without a name is called by its members") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      try await bob.setDisplayName("Robert")
      let room = try await alice.make(NewRoom(preset: .publicChat))
      try await bob.room(room.id).join()
      try await room.until("Robert") { $0.name.english == "Robert" }
    },
    LiveCase("R9 the members are loaded with their names") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.loadMembers()
      let state = try unwrap(await alice.state, "room")
      try expect(state.hasAllMembers, "all members")
      let ids = [try await alice.client.ownID, try await bob.client.ownID].sorted()
      try expect(state.members.map(\.userID), is: ids)
      try expect(try await alice.joinedMembers().map(\.userID).sorted(), is: ids)
    },
    LiveCase("R11 the direct chat with somebody is made once") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob").ownID
      let first = try unwrap(try await alice.perform(.rooms(.openDirectChat(with: bob.text))), "room")
      _ = try await alice.until("it is direct") { client in client.state(of: first)?.directUserID == bob ? true : nil }
      let second = try await alice.perform(.rooms(.openDirectChat(with: bob.text)))
      try expect(second, is: first)
    },
    LiveCase("R11 an invited user sees a direct chat as direct") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let id = try unwrap(try await alice.perform(.rooms(.openDirectChat(with: try await bob.ownID.text))), "room")
      let room = bob.room(id)
      try await room.until("the invitation") { $0.membership == .invite }
      try await room.join()
      let user = try await alice.ownID
      try await room.until("it is direct") { $0.membership == .join && $0.directUserID == user }
    },
    LiveCase("R12 account data of a room comes back on another device") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom())
      try await room.setAccountData("org.example.test", Array(#"{"colour":"green"}"#.utf8))
      let other = try await stage.device(of: alice).room(room.id)
      try expect(try await other.accountData("org.example.test")["colour"]?.string, is: "green")
      try expect(try await other.tags().count, is: 0)
    },
    LiveCase("P1 a room's hierarchy begins with itself") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom(preset: .publicChat, name: "Root"))
      let page = try await room.hierarchy(limit: 10)
      try expect(page.entries.map(\.room.id), is: [room.id])
    }
  ]
}
