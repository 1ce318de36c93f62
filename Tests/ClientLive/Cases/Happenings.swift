import MatrixClient

/// The eighteen events of J13, each as a server makes it happen.
extension LiveCase {
  static let happenings = [
    LiveCase("J13 connected, started, updated: a client hears of its connection and of a room that is new") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let events = await Heard(bob)
      let room = try await alice.createRoom(NewRoom(name: "Tea", invited: [try await bob.ownID]))
      try await events.until("the invitation") { if case .started(room.id) = $0 { true } else { false } }
      try await events.until("its line") { if case .updated(room.id, _) = $0 { true } else { false } }
      let again = try await stage.restored(try unwrap(await alice.session, "session"))
      let hers = await Heard(again)
      try await hers.until("the connection") { if case .connected = $0 { true } else { false } }
    },
    LiveCase("J13 error: the end of the session is told") { stage in
      let alice = try await stage.user("alice")
      let events = await Heard(alice)
      try await alice.logOut()
      try await events.until("the end") { if case .error(.signedOut) = $0 { true } else { false } }
    },
    LiveCase("J13 message, file, system, data: what comes into a room that is not open") { stage in
      let (alice, bob) = try await stage.pair()
      let events = await Heard(bob.client)
      try await alice.send("Hello").sent()
      try await events.until("the message") {
        if case .message(_, let message) = $0 { message.content?.body == "Hello" } else { false }
      }
      let path = try stage.folder.file("face.png", Picture.png)
      try await alice.sendFile(path, mimeType: "image/png")
      try await events.until("the file") {
        if case .file(_, let message) = $0 { message.content?.attachment?.fileName == "face.png" } else { false }
      }
      try await alice.setTopic("Tea")
      try await events.until("the topic") {
        if case .system(_, let message) = $0, case .topicSet("Tea") = message.change { true } else { false }
      }
      try await alice.send("org.example.move", Array(#"{"to":[1,2]}"#.utf8)).sent()
      try await events.until("the data") {
        if case .data(_, let all) = $0 {
          all.contains { $0.type == "org.example.move" && $0.content["to"]?.count == 2 }
        } else {
          false
        }
      }
    },
    // Proves J31
    LiveCase("J13 broadcast: a notice of the server's is told apart") { stage in
      let (alice, bob) = try await stage.pair()
      let events = await Heard(bob.client)
      try await alice.send("m.room.message", Array(#"{"msgtype":"m.server_notice","body":"Full"}"#.utf8)).sent()
      try await events.until("the notice") {
        if case .broadcast(_, let message) = $0 { message.content?.body == "Full" } else { false }
      }
    },
    LiveCase("J13 left, ended, all ended: what one goes out of") { stage in
      let (alice, bob) = try await stage.pair()
      let closed = try await bob.client.createRoom()
      try await closed.until("its rule") { $0.joinRule != nil }
      let events = await Heard(bob.client)
      try await alice.kick(try await bob.client.ownID)
      try await events.until("he is out") { if case .left(alice.id, .leave) = $0 { true } else { false } }
      try await closed.leave()
      try await events.until("it is over") { if case .ended(closed.id) = $0 { true } else { false } }
      try await events.until("all are") { if case .allEnded = $0 { true } else { false } }
    },
    LiveCase("J13 hidden, all hidden: a room is out of sight until somebody writes", needs: .extensions(.hide)) { stage in
      let (alice, bob) = try await stage.pair()
      let other = try await bob.client.createRoom()
      let events = await Heard(bob.client)
      try await bob.hide()
      try await events.until("it is hidden") { if case .hidden(alice.id) = $0 { true } else { false } }
      try expect(try await bob.client.hideRooms(), is: 1)
      try await events.until("the other as well") { if case .hidden(other.id) = $0 { true } else { false } }
      try await events.until("all are") { if case .allHidden = $0 { true } else { false } }
    },
    LiveCase("J13 read, typing started and stopped: what others do") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      let events = await Heard(alice.client)
      let event = try await alice.send("Read this").sent()
      try await bob.setTyping(true)
      try await events.until("he writes") { if case .typingStarted(_, user) = $0 { true } else { false } }
      try await bob.setTyping(false)
      try await events.until("he does not") { if case .typingStopped(_, user) = $0 { true } else { false } }
      try await bob.markRead(upTo: event)
      try await events.until("he has read it") { if case .read(_, user, event) = $0 { true } else { false } }
    },
    LiveCase("J13 delivery: what one sends is with the server") { stage in
      let room = try await stage.user("alice").createRoom()
      let events = await Heard(room.client)
      let sending = try await room.send("Hello")
      let event = try await sending.sent()
      try await events.until("it is sent") {
        if case .delivery(room.id, .sent(sending.id, event)) = $0 { true } else { false }
      }
    },
    // Proves P21
    LiveCase("B6 what one sends has reached the other's device", needs: .extensions(.delivered)) { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.client.setDeliveryReceipts(true)
      let user = try await bob.client.ownID
      let events = await Heard(alice.client)
      let event = try await alice.send("Hello").sent()
      try await events.until("it is there") {
        if case .delivery(_, .delivered(event, user)) = $0 { true } else { false }
      }
    },
    // Proves J25, T13
    LiveCase("X1 events of custom types are followed, in one room or in all") { stage in
      let (alice, bob) = try await stage.pair()
      let moves = await bob.client.events(ofTypes: "org.example.move", in: bob.id)
      try await alice.send("Not this").sent()
      try await alice.send("org.example.move", Array(#"{"to":1,"how":{"fast":true}}"#.utf8)).sent()
      for await move in moves {
        try expect(move.roomID, is: bob.id)
        return try expect(move.event.content["how"]?["fast"]?.bool, is: true)
      }
    }
  ]
}

/// The events of a client from the moment it is made, each of which is looked at once more by everybody who waits.
actor Heard {
  private var events: [ClientEvent] = []
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isOver = false

  init(_ client: MatrixClient) async {
    let stream = await client.events
    Task {
      for await event in stream { note(event) }
      end()
    }
  }

  private func note(_ event: ClientEvent) {
    events.append(event)
    wake()
  }

  private func end() {
    isOver = true
    wake()
  }

  private func wake() {
    let all = waiting
    waiting = []
    for continuation in all { continuation.resume() }
  }

  func until(_ what: String, _ isIt: @Sendable (ClientEvent) -> Bool) async throws {
    while !events.contains(where: isIt) {
      if isOver { throw Failure("waited in vain: \(what)") }
      await withCheckedContinuation { waiting.append($0) }
    }
  }
}
