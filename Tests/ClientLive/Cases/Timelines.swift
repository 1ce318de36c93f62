import MatrixClient

/// Reading.
extension LiveCase {
  static let timelines = [
    LiveCase("T13 two clients that write see the same timeline") { stage in
      let (alice, bob) = try await stage.pair()
      for number in 1...10 {
        let (writer, reader) = number.isMultiple(of: 2) ? (alice, bob) : (bob, alice)
        try await writer.send("Turn \(number)").sent()
        _ = try await reader.item(saying: "Turn \(number)")
      }
      var events: [[EventID?]] = []
      for room in [alice, bob] {
        let items = try unwrap(await room.state, "room").timeline.items
        events.append(items.filter { $0.text != nil }.map(\.eventID))
      }
      try expect(events[0].count, is: 10)
      try expect(events[0], is: events[1])
    },
    LiveCase("T13 paging back reaches the start, and has every message once") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom(preset: .publicChat))
      let texts = (1...60).map { "Page \($0)" }
      for text in texts { try await room.send(text) }
      _ = try await room.item(saying: "Page 60")
      let late = try await stage.user("late").room(room.id)
      try await late.join()
      _ = try await late.item("some item") { _ in true }
      try await late.readToTheStart()
      let items = try unwrap(await late.state, "room").timeline.items
      try expect(items.compactMap(\.text), is: texts)
      guard case .state(.created)? = items.first?.content else { throw Failure("it begins with \(items[0].content)") }
      let identities = items.compactMap(\.eventID)
      try expect(Set(identities).count, is: identities.count)
    },
    LiveCase("T16 what happens in a room has its items") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.setTopic("News")
      let user = try await bob.client.ownID
      _ = try await alice.item("the topic") { item in
        if case .state(.topicSet("News")) = item.content { true } else { false }
      }
      _ = try await alice.item("the join") { item in
        if case .state(.joined(user)) = item.content { true } else { false }
      }
    },
    LiveCase("T13 messages() gives what comes in from now on, own ones included") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.say("Old")
      _ = try await bob.item(saying: "Old")
      let messages = await bob.messages()
      try await alice.send("New")
      try await bob.send("Own")
      var heard: Set<String> = []
      for await message in messages {
        heard.insert(message.text ?? "")
        if heard.count == 2 { break }
      }
      try expect(heard, is: ["New", "Own"])
    },
    LiveCase("C2 what has been viewed is read, on every device") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Read me")
      let item = try await bob.item(saying: "Read me")
      let other = try await stage.device(of: bob.client).room(bob.id)
      try await bob.client.perform(.reading(.viewed(bob.id, upTo: item.id)))
      try await bob.until("it is read") { $0.fullyRead == event }
      try await other.until("it is read on the other device") { $0.fullyRead == event }
      try expect(try await other.accountData("m.fully_read")["event_id"]?.string, is: event.string)
    }
  ]
}

extension MatrixRoom {
  func readToTheStart() async throws {
    for _ in 0..<100 {
      if await state?.timeline.backState == .atStart { return }
      try await client.perform(.timeline(.paginateBack(.live(id))))
      try await until("the page") { $0.timeline.backState != .loading }
    }
    throw Failure("the start did not come")
  }
}
