import MatrixClient
import Synchronization

/// The messaging verbs, and what happens as one stream.
extension LiveCase {
  static let conversations = [
    // Proves J6
    LiveCase("J6 the direct chat with somebody is there to write in at once, and made once") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      async let first = alice.directChat(with: try await bob.ownID)
      async let second = alice.directChat(with: try await bob.ownID)
      let (room, same) = (try await first, try await second)
      try expect(room, is: same)
      try await room.send("Hello").sent()
      let user = try await bob.ownID
      try expect(await room.state?.directUserID, is: user)
    },
    // Proves J6
    LiveCase("J6 two who open their chat with each other at once are in one room", needs: .extensions(.direct)) { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      async let hers = alice.directChat(with: try await bob.ownID)
      async let his = bob.directChat(with: try await alice.ownID)
      try expect(try await hers.id, is: try await his.id)
    },
    // Proves J7
    LiveCase("J7 a group chat is found again by its people") { stage in
      let alice = try await stage.user("alice")
      let (bob, carol) = (try await stage.user("bob").ownID, try await stage.user("carol").ownID)
      let room = try await alice.groupChat(with: [bob, carol], name: "Three")
      try await room.until("both are invited") { $0.invitedMemberCount == 2 }
      try expect(try await alice.groupChat(with: [carol, bob]), is: room)
      let smaller = try await alice.createRoom(NewRoom(invited: [bob]))
      try expect(smaller != room, "another room")
    },
    // Proves J8
    LiveCase("J8 many are invited at once, each with a result") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let room = try await alice.createRoom()
      let own = try await alice.ownID
      let errors = try await room.invite([try await bob.ownID, own])
      try expect(Set(errors.keys), is: [own])
      try await bob.room(room.id).until("the invitation") { $0.membership == .invite }
    },
    // Proves J10
    LiveCase("J10 a conversation that is ended is out of the list") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom(NewRoom(name: "Short"))
      try await room.end()
      _ = try await alice.until("it is gone") { client in client.rooms.isEmpty ? true : nil }
    },
    // Proves J11
    LiveCase("J11 all conversations are ended at once") { stage in
      let alice = try await stage.user("alice")
      for number in 1...3 { _ = try await alice.createRoom(NewRoom(name: ByteString("Room \(number)"))) }
      let progress = Steps()
      let errors = try await alice.endAll { done, total in progress.note(done, total) }
      try expect(errors.isEmpty, "no errors")
      try expect(progress.last?.done, is: 3)
      _ = try await alice.until("all are gone") { client in client.rooms.isEmpty ? true : nil }
    },
    // Proves J26
    LiveCase("J26 what is sent has its end, with what the server made of it") { stage in
      let room = try await stage.user("alice").createRoom()
      let sending = try await room.send("Hello")
      let event = try await sending.sent()
      try expect(try await room.event(event).content["body"]?.string, is: "Hello")
      try expect(try await sending.sent(), is: event)
      do {
        try await room.send("")
        throw Failure("nothing was sent")
      } catch ClientError.invalidContent {}
    },
    LiveCase("J28 a file is sent with its progress") { stage in
      let room = try await stage.user("alice").createRoom()
      let path = try stage.folder.file("big.bin", [UInt8](repeating: 7, count: 600_000))
      let progress = Steps()
      let event = try await room.sendFile(path, mimeType: "application/octet-stream", caption: "Big") { sent, total in
        progress.note(Int(sent), Int(total))
      }
      try expect(progress.last?.done, is: 600_000)
      try expect(progress.last?.total, is: 600_000)
      let content = try await room.event(event).content
      try expect(content["body"]?.string, is: "Big")
      try expect(content["info"]?["size"]?.integer, is: 600_000)
    },
    LiveCase("J28 bytes are sent as a file") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.createRoom()
      let bytes = [UInt8](repeating: 9, count: 70_000)
      let event = try await room.sendFile(bytes, named: "note.bin", mimeType: "application/octet-stream")
      let content = try await room.event(event).content
      try expect(content["body"]?.string, is: "note.bin")
      try expect(content["info"]?["size"]?.integer, is: 70_000)
      let uri = try unwrap(content["url"]?.string.flatMap { MediaURI($0) }, "an address")
      try expect(try await alice.media(uri), is: bytes)
    },
    // Proves J9
    LiveCase("J9 who left may come back where room and server let them", needs: .extensions(.rejoin)) { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let room = try await alice.createRoom(NewRoom(invited: [try await bob.ownID]))
      try await room.setState("martlet.rejoin", Array(#"{"allow":true}"#.utf8))
      let his = bob.room(room.id)
      try await his.until("the invitation") { $0.membership == .invite }
      try await his.join()
      try await his.leave()
      try await his.until("he is out") { $0.membership == .leave }
      try await his.rejoin()
      try expect(await his.state?.membership, is: .join)
    },
    // Proves J37
    LiveCase("J37 a room and all rooms are marked as read") { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.send("One").sent()
      try await alice.until("it is unread") { $0.notificationCount > 0 }
      try await alice.markRead()
      try await alice.until("it is read") { $0.notificationCount == 0 }
      try await bob.send("Two").sent()
      try await alice.until("it is unread again") { $0.notificationCount > 0 }
      try await alice.client.markAllRead()
      try await alice.until("all is read") { $0.notificationCount == 0 }
      let other = try await stage.device(of: alice.client).room(alice.id)
      try await other.until("it is read there too") { $0.notificationCount == 0 }
    },
    // Proves J47
    LiveCase("J47 members come in pages of one moment", needs: .extensions(.paging)) { stage in
      let (alice, _) = try await stage.pair()
      let first = try await alice.memberPage(limit: 1)
      let second = try await alice.memberPage(limit: 1, from: try unwrap(first.nextBatch, "next page"))
      try expect(Set((first.members + second.members).map(\.userID)).count, is: 2)
      try expect(try await alice.onlineCount().joined, is: 2)
    },
    // Proves J41
    LiveCase("J41 what was said since one joined is counted", needs: .extensions(.sinceJoined)) { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.send("One").sent()
      try await bob.send("Two").sent()
      try expect(try await alice.messagesSinceJoined(), is: 2)
      try await bob.leave()
      try await alice.send("Three").sent()
      try await alice.invite(try await bob.client.ownID)
      try await bob.until("the invitation") { $0.membership == .invite }
      try await bob.join()
      try expect(try await bob.messagesSinceJoined(), is: 0)
      try expect(try await alice.messagesSinceJoined(), is: 3)
    }
  ]
}

/// Steps of a progress as they were told.
final class Steps: Sendable {
  private let steps = Mutex([(done: Int, total: Int)]())

  var last: (done: Int, total: Int)? { steps.withLock { $0.last } }
  func note(_ done: Int, _ total: Int) { steps.withLock { $0.append((done, total)) } }
}
