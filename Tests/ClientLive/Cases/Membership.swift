import MatrixClient

/// Coming into a room and going out of it.
extension LiveCase {
  static let membership = [
    LiveCase("R2 a room is joined by its alias") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let localpart = stage.fresh("open")
      let room = try await alice.make(NewRoom(preset: .publicChat, aliasLocalpart: ByteString(localpart)))
      let alias = "#\(localpart):\(try await alice.ownID.serverName)"
      try expect(try await bob.perform(.rooms(.join(ByteString(alias)))), is: room.id)
      try await room.until("two members") { $0.joinedMemberCount == 2 }
    },
    LiveCase("R2 a room that is left is out of the list, and a forgotten one is unknown") { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.leave()
      let id = bob.id
      _ = try await bob.client.until("it is left") { client in client.rooms.contains { $0.id == id } ? nil : true }
      try await alice.until("one member") { $0.joinedMemberCount == 1 }
      try await bob.forget()
      try await expectRefusal("M_FORBIDDEN") { _ = try await bob.stateContent("m.room.create") }
      let again = try await stage.device(of: bob.client)
      try expect(await again.state(of: id) == nil, "it is unknown to a new device")
    },
    LiveCase("R2 a room that is only for invited ones is not joined") { stage in
      let room = try await stage.user("alice").make(NewRoom())
      let bob = try await stage.user("bob")
      try await expectRefusal("M_FORBIDDEN") { try await bob.room(room.id).join() }
    },
    LiveCase("R2 a room that is not there is refused, and what is no address not asked for") { stage in
      let bob = try await stage.user("bob")
      let server = try await bob.ownID.serverName
      try await expectRefusal("M_NOT_FOUND") {
        try await bob.perform(.rooms(.join(ByteString("#\(stage.fresh("none")):\(server)"))))
      }
      do { try await bob.perform(.rooms(.join("no address"))) } catch ClientError.invalidRoomAddress { return }
      throw Failure("it was asked for")
    },
    LiveCase("R3 who is invited sees the room's name and who asked") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let room = try await alice.make(NewRoom(name: "Private tea"))
      try await room.invite(try await bob.ownID)
      let user = try await alice.ownID
      let invited = try await bob.room(room.id).until("the invitation") { $0.membership == .invite }
      try expect(invited.name.english, is: "Private tea")
      try expect(invited.inviter, is: user)
      try await bob.room(room.id).join()
      try await room.until("two members") { $0.joinedMemberCount == 2 }
    },
    LiveCase("R3 an invitation is declined") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let room = try await alice.make(NewRoom(name: "Private tea", invited: [try await bob.ownID]))
      try await bob.room(room.id).until("the invitation") { $0.membership == .invite }
      try await bob.room(room.id).leave()
      try await room.until("nobody is invited") { $0.invitedMemberCount == 0 }
    },
    LiveCase("R4 who is kicked is out, and sees why") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      try await alice.kick(user, reason: "Shouting")
      try await bob.until("it is out") { $0.membership == .leave }
      let item = try await alice.item("the kick") { item in
        if case .state(.kicked(user, let reason)) = item.content { reason == "Shouting" } else { false }
      }
      try expect(item.sender, is: try await alice.client.ownID)
    },
    LiveCase("R4 who is banned cannot come back before the ban is lifted") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      try await alice.ban(user, reason: "Spam")
      try await bob.until("it is banned") { $0.membership == .ban }
      // Synapse calls it a bad state.
      try await expectRefusal("M_FORBIDDEN", "M_BAD_STATE") { try await bob.join() }
      try await alice.unban(user)
      try await bob.join()
      try await alice.until("two members") { $0.joinedMemberCount == 2 }
    },
    LiveCase("R4 below the power level nobody is kicked, banned or unbanned") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await alice.client.ownID
      try await expectRefusal("M_FORBIDDEN") { try await bob.kick(user) }
      try await expectRefusal("M_FORBIDDEN") { try await bob.ban(user) }
      let third = try await stage.user("carol").ownID
      try await alice.ban(third)
      try await expectRefusal("M_FORBIDDEN") { try await bob.unban(third) }
    },
    LiveCase("R8 what the power levels say locally is what the server says") { stage in
      let (alice, bob) = try await stage.pair()
      let (boss, member) = (try await alice.client.ownID, try await bob.client.ownID)
      let known = try await bob.until("the power levels") { $0.powerLevels != nil }
      let levels = try unwrap(known.powerLevels, "power levels")
      try expect(levels.canSend("m.room.name", isState: true, by: boss), "the founder may name the room")
      try expect(!levels.canSend("m.room.name", isState: true, by: member), "a member may not name the room")
      try expect(levels.canKick(member, by: boss) && !levels.canKick(boss, by: member), "who may kick others")
      try await expectRefusal("M_FORBIDDEN") { try await bob.setName("Mine") }
      try await alice.setName("Ours")
    }
  ]
}
