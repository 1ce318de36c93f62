import MatrixClient

/// What events say of others: edits, reactions, references, threads, polls, live locations.
extension LiveCase {
  static let relations = [
    LiveCase("T7 an edit is what everybody reads, with its format, and the server sends it along") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("one")
      _ = try await bob.item(saying: "one")
      try await alice.edit(.event(event), "two")
      try expect(try await bob.item(saying: "two").isEdited, "it is edited")
      try await alice.client.perform(.sending(.edit(alice.id, .event(event), .markdown("**three**"))))
      let item = try await bob.item(saying: "**three**")
      try expect(item.eventID, is: event)
      guard case .message(let message) = item.content else { throw Failure("\(item.content)") }
      try expect(message.formattedBody, is: "<strong>three</strong>")
      try expect(try await bob.client.perform(.event(event, in: bob.id)).bundledEdit?.body, is: "**three**")
      let late = try await stage.device(of: bob.client).room(bob.id)
      try expect(try await late.item(saying: "**three**").isEdited, "it is edited for who comes later")
    },
    LiveCase("T9 a reaction counts everywhere, for who comes later too, and goes when it is taken back") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Tea?")
      for room in [alice, bob] { try await room.toggleReaction("👍", to: .event(event)) }
      let late = try await stage.device(of: bob.client).room(bob.id)
      let (hers, his) = (try await alice.client.ownID, try await bob.client.ownID)
      for room in [alice, bob, late] { try await room.reactions(to: event, are: ["👍": [hers, his]]) }
      try await bob.toggleReaction("👍", to: .event(event))
      for room in [alice, bob, late] { try await room.reactions(to: event, are: ["👍": [hers]]) }
      try await alice.toggleReaction("👍", to: .event(event))
      for room in [alice, bob, late] { try await room.reactions(to: event, are: [:]) }
    },
    LiveCase("T17 events that refer to one are found page by page, and the server sends them along") { stage in
      let (alice, bob) = try await stage.pair()
      let target = try await alice.say("Plan")
      var sent: [EventID] = []
      for number in 1...3 {
        let content = #"{"n":\#(number),"m.relates_to":{"rel_type":"m.reference","event_id":"\#(target)"}}"#
        sent.append(try await alice.send("org.example.step", Array(content.utf8)).sent())
      }
      let first = try await bob.client.perform(.relations(of: target, in: bob.id, relation: "m.reference", limit: 2))
      try expect(first.events.compactMap(\.eventID), is: [sent[2], sent[1]])
      let rest = try await bob.client.perform(
        .relations(of: target, in: bob.id, relation: "m.reference", limit: 2, from: first.nextBatch))
      try expect(rest.events.compactMap(\.eventID), is: [sent[0]])
      try expect(rest.nextBatch == nil, "there are no more")
      let event = try await bob.client.perform(.event(target, in: bob.id))
      let bundled = event.unsigned?["m.relations"]?["m.reference"]?["chunk"]?.elements.compactMap { EventID($0["event_id"]) }
      try expect(Set(bundled ?? []), is: Set(sent))
    },
    LiveCase("T10 a thread stands at its root and in the list of threads, the latest first", needs: .version(minor: 4)) {
      stage in
      let (alice, bob) = try await stage.pair()
      let (one, two) = (try await alice.say("One"), try await alice.say("Two"))
      let reply = try await bob.send("first", inThread: one).sent()
      try await alice.send("elsewhere", inThread: two).sent()
      try await alice.send(OutgoingMessage.text("answer").inThread(.event(one)).replying(to: .event(reply))).sent()
      let root = try await bob.item("the root of the thread") { $0.eventID == one && $0.thread?.count == 2 }
      guard case .message(let latest)? = root.thread?.latest?.content else { throw Failure("no latest reply") }
      try expect(latest.body, is: "answer")
      let thread = bob.timeline(.thread(one))
      for await _ in try await thread.changes() where await thread.items.compactMap(\.text) == ["One", "first", "answer"] {
        break
      }
      let answer = await thread.items.last
      try expect(answer?.replyTo, is: reply)
      let lists = try await bob.client.perform(.threads(in: bob.id))
      try expect(lists.events.compactMap(\.eventID), is: [one, two])
      let own = try await bob.client.perform(.threads(in: bob.id, participatedOnly: true))
      try expect(own.events.compactMap(\.eventID), is: [one])
    },
    LiveCase("C1 a thread is read by a receipt of its own", needs: .version(minor: 4)) { stage in
      let (alice, bob) = try await stage.pair()
      let root = try await alice.say("Root")
      let reply = try await alice.send("In the thread", inThread: root).sent()
      try await bob.until("one unread in the thread") { $0.unreadCounts.threads[root]?.notifications == 1 }
      try await bob.markRead(upTo: reply, inThread: root)
      try await bob.until("the thread is read") { $0.unreadCounts.threads[root] == nil }
      try expect(await bob.state?.unreadCounts.main.notifications, is: 1)
    },
    LiveCase("T11 a poll is asked, voted in and ended, and later votes do not count") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.send(.poll(OutgoingPoll(question: "What?", answers: ["Tea", "Water"]))).sent()
      let poll = try unwrap(try await bob.poll(event, "it") { _ in true }, "poll")
      try expect(poll.answers.map(\.text), is: ["Tea", "Water"])
      try await bob.vote([poll.answers[1].id], in: .event(event))
      let his = try await bob.client.ownID
      _ = try await alice.poll(event, "his vote") { $0.answers[1].voters == [his] }
      try await alice.endPoll(.event(event), text: "Water it is")
      _ = try await bob.poll(event, "its end") { $0.endedAtMilliseconds != nil }
      try await bob.vote([poll.answers[0].id], in: .event(event))
      try await bob.say("Too late?")
      _ = try await alice.item(saying: "Too late?")
      _ = try await alice.poll(event, "the vote that counted") { $0.answers.map(\.voters) == [[], [his]] }
    },
    LiveCase("T12 a position that is shared is seen, moves, and ends") { stage in
      let (alice, bob) = try await stage.pair()
      let room = alice.id
      try await alice.client.perform(.sending(.setBeacon(room, BeaconInfo(description: "Walk", timeoutMilliseconds: 600_000))))
      let share = try await bob.item("the share") { $0.liveLocation?.isLive ?? false }
      let event = try unwrap(share.eventID, "event ID")
      for uri in ["geo:51.5,-0.1", "geo:51.6,-0.2"] {
        try await alice.client.perform(
          .sending(.sendBeacon(room, info: .event(event), geoURI: ByteString(uri), description: nil)))
        _ = try await bob.item("the position \(uri)") { $0.liveLocation?.position?.uri.text.string == uri }
      }
      try await alice.client.perform(.sending(.setBeacon(room, BeaconInfo(timeoutMilliseconds: 600_000, isLive: false))))
      _ = try await bob.item("its end") { $0.eventID == event && $0.liveLocation?.isLive == false }
    }
  ]
}

extension MatrixRoom {
  /// Waits until these and no others have reacted.
  fileprivate func reactions(to event: EventID, are expected: [String: Set<UserID>]) async throws {
    _ = try await item("the reactions \(expected)") { item in
      guard item.eventID == event else { return false }
      return item.reactions.reduce(into: [:]) { $0[$1.key.string] = Set($1.senders) } == expected
    }
  }

  /// Waits until the poll is so.
  fileprivate func poll(_ event: EventID, _ what: String, _ isSo: @Sendable (Poll) -> Bool) async throws -> Poll? {
    try await item("the poll: \(what)") { $0.eventID == event && $0.poll.map(isSo) ?? false }.poll
  }
}

extension TimelineItem {
  fileprivate var poll: Poll? {
    if case .message(let message) = content { message.poll } else { nil }
  }

  fileprivate var liveLocation: LiveLocation? {
    if case .message(let message) = content { message.liveLocation } else { nil }
  }
}
