import Foundation
import MatrixClient

/// Ignoring, knocking, being there.
extension LiveCase {
  static let neighbours = [
    LiveCase("R16 what an ignored user says vanishes, and comes back with them") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      try await bob.say("Before")
      _ = try await alice.item(saying: "Before")
      try await alice.client.ignore(user)
      let room = try unwrap(await alice.state, "room")
      try expect(!room.timeline.items.contains { $0.text == "Before" }, "it is out of sight")
      try expect(room.preview == nil, "no preview")
      try await alice.say("Only mine")
      let other = try await stage.device(of: alice.client)
      try expect(await other.ignoredUsers, is: [user])
      try await alice.client.unignore(user)
      _ = try await alice.item(saying: "Before")
      try await bob.say("Again")
      _ = try await alice.item(saying: "Again")
    },
    LiveCase("R16 events, rooms and users are reported") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await bob.say("Spam")
      try await alice.timeline().open()
      _ = try await alice.item(saying: "Spam")
      try await alice.report(event, reason: "Spam")
      try await alice.report(reason: "Spam everywhere")
      try await alice.client.report(try await bob.client.ownID, reason: "Spams")
    },
    LiveCase("R16 an invitation is declined together with who sent it") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let room = try await alice.createRoom(NewRoom(invited: [try await bob.ownID]))
      try await bob.room(room.id).until("the invitation") { $0.membership == .invite }
      try await bob.room(room.id).declineAndIgnore()
      try expect(await bob.ignoredUsers, is: [try await alice.ownID])
      try await room.until("he has declined") { $0.invitedMemberCount == 0 }
    },
    LiveCase("R5 who knocks is seen at once, and let in, sent away or banned") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let user = try await bob.ownID
      let room = try await alice.createRoom()
      try await room.setJoinRule(.knock)
      try await room.until("the rule") { $0.joinRule == .knock }
      let lists = try await room.knockers()
      var knockers = lists.makeAsyncIterator()
      func next(_ isIt: ([Member]) -> Bool) async throws -> [Member] {
        while let list = await knockers.next() { if isIt(list) { return list } }
        throw Failure("waited in vain for the list")
      }
      _ = try await bob.knock(on: room.id.string, reason: "Tea?")
      let list = try await next { !$0.isEmpty }
      try expect(list.map(\.userID), is: [user])
      try expect(list[0].reason, is: "Tea?")
      try await room.decline(list[0], reason: "Closed")
      _ = try await next { $0.isEmpty }
      _ = try await bob.knock(on: room.id.string)
      try await room.accept(try await next { !$0.isEmpty }[0])
      try await bob.room(room.id).until("the invitation") { $0.membership == .invite }
      try await bob.room(room.id).join()
      try await room.ban(user)
      try await room.until("he is banned") { $0.bannedMembers.map(\.userID) == [user] }
      try await expectRefusal("M_FORBIDDEN", "M_BAD_STATE") { _ = try await bob.knock(on: room.id.string) }
    },
    LiveCase("U3 presence is heard by those in the same room, with when they were there last") { stage in
      let (alice, bob) = try await stage.pair(.automatic)
      let user = try await alice.client.ownID
      let presences = await bob.client.presences(of: [user])
      let began = Int64(Date().timeIntervalSince1970 * 1_000)
      try await alice.client.setPresence(.unavailable, message: "At tea")
      for await (_, presence) in presences where presence.presence == .unavailable {
        // The sync that was under way still said that she is there.
        try expect(presence.message, is: "At tea")
        // Synapse leaves it out of some.
        if let last = presence.lastActiveAtMilliseconds { try expect(abs(last - began) < 60_000, "when") }
        return
      }
      throw Failure("nothing was heard")
    },
    LiveCase("T20 typing is followed, and ends") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      let lists = await alice.typing()
      try await bob.setTyping(true)
      for await list in lists where list == [user] { break }
      try await bob.setTyping(false)
      try await alice.until("nobody writes") { $0.typing.isEmpty }
    },
    // Proves J38
    LiveCase("C1 who has read an event is known, publicly or not, and never goes back") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      try await alice.timeline().open()
      let first = try await alice.say("One")
      let second = try await alice.say("Two")
      try await bob.markRead(upTo: second)
      _ = try await alice.client.until("it is read") { client in
        client.readers(of: second, in: alice.id).contains(user) ? true : nil
      }
      try expect(await alice.unreadMemberCount(of: first), is: 0)
      try await bob.markRead(upTo: first)
      let third = try await alice.say("Three")
      try await bob.markRead(upTo: third, isPublic: false)
      try await bob.setFullyRead(third)
      try await bob.until("his marker") { $0.fullyRead == third }
      try expect(await alice.readers(at: second).contains(user), "he still is there for others")
    }
  ]
}

extension MatrixClient {
  func readers(of event: EventID, in room: RoomID) -> [UserID] {
    guard let timeline = state(of: room)?.timeline, let item = timeline.item(at: event) else { return [] }
    return timeline.readers(at: item)
  }
}
