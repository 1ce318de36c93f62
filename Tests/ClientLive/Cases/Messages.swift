import MatrixClient

/// Sending, and what arrives at the others.
extension LiveCase {
  static let messages = [
    // Proves T22
    LiveCase("T1 a text, an emote and a notice arrive as what they are") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.send(.text("waves", style: .emote))
      try await alice.send(.text("automatic", style: .notice))
      try await alice.send("plain")
      _ = try await bob.item(saying: "plain")
      let items = try unwrap(await bob.state, "room").timeline.items
      let kinds = items.compactMap { item -> MessageContent.Kind? in
        if case .message(let message) = item.content { message.kind } else { nil }
      }
      try expect(kinds, is: [.emote, .notice, .text])
    },
    LiveCase("T1 text of every script and size arrives as it was written") { stage in
      let (alice, bob) = try await stage.pair()
      for text in ["שלום, 世界 👩‍👩‍👧 \u{1F600}", #"quotes " \ / and <b>tags</b>"#, String(repeating: "long ", count: 4_000)] {
        try await alice.send(text)
        _ = try await bob.item(saying: text)
      }
    },
    LiveCase("T2 a message is one item with one identity, from the echo to the event") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom())
      try await alice.perform(.timeline(.openRoom(room.id)))
      let changes = await alice.changes()
      try await room.send("Echo")
      var identities: Set<ItemID> = []
      let key = TimelineKey.live(room.id)
      for await case .timeline(key, let steps) in changes {
        for case .updated(_, let item) in steps where item.text == "Echo" { identities.insert(item.id) }
        for case .inserted(_, let items) in steps {
          for item in items where item.text == "Echo" { identities.insert(item.id) }
        }
        let items = try unwrap(await room.state, "room").timeline.items.filter { $0.text == "Echo" }
        try expect(items.count, is: 1)
        if case .received = items[0].delivery { break }
      }
      try expect(identities.count, is: 1)
    },
    LiveCase("T3 what is sent in one go arrives in that order") { stage in
      let (alice, bob) = try await stage.pair()
      let texts = (1...20).map { "Number \($0)" }
      for text in texts { try await alice.send(text) }
      _ = try await bob.item(saying: "Number 20")
      try expect(try unwrap(await bob.state, "room").timeline.items.compactMap(\.text), is: texts)
    },
    LiveCase("T3 a message that the server refuses stays as failed, with the reason") { stage in
      let (alice, bob) = try await stage.pair()
      // An event of a type that takes a moderator, as a message.
      let changes = await bob.client.changes()
      try await bob.send(.custom("m.room.tombstone", content: Array(#"{"body":"Closed"}"#.utf8)))
      try await bob.send("The next one")
      var refused: (id: SendID, error: ClientError)?
      for await case .sending(bob.id, let id, .failed(let error)) in changes {
        refused = (id, error)
        break
      }
      guard case .refused(_, let code, _, _)? = refused?.error, let id = refused?.id else {
        throw Failure("\(String(describing: refused))")
      }
      // Synapse takes no event of a type of state here at all.
      try expect(code == "M_FORBIDDEN" || code == "M_UNKNOWN", "the code is \(code)")
      _ = try await alice.item(saying: "The next one")
      let later = await bob.client.changes()
      try await bob.client.perform(.sending(.cancel(bob.id, .sending(id))))
      for await case .sending(bob.id, id, .cancelled) in later { return }
    },
    LiveCase("T3 no clear text goes into an encrypted room, also not what waited while it became one") { stage in
      let (alice, bob) = try await stage.pair(encrypts: true)
      try await bob.client.perform(.sending(.setSending(bob.id, isEnabled: false)))
      let waiting = try await bob.send("Waited")
      try await alice.encrypt()
      for room in [alice, bob] { try await room.until("it is encrypted") { $0.isEncrypted } }
      try await bob.client.perform(.sending(.setSending(bob.id, isEnabled: true)))
      try await waiting.sent()
      try await bob.send("Said later")
      for text in ["Waited", "Said later"] { _ = try await alice.item(saying: text) }
      let page = try await alice.client.perform(.messages(in: alice.id, limit: 50))
      // As it is in clear text; on the server it is not (`encryption` of the end-to-end tests).
      try expect(page.events.filter { $0.type == .message }.count, is: 2)
    },
    LiveCase("T3 a message that is too large for an event is refused before it is sent") { stage in
      let (alice, bob) = try await stage.pair()
      do {
        try await alice.send(String(repeating: "x", count: 70_000))
        throw Failure("it was taken")
      } catch let error as ClientError {
        guard case .tooLarge(let limit) = error else { throw error }
        try expect(limit, is: 60_000)
      }
      _ = try await alice.say("The next one")
      _ = try await bob.item(saying: "The next one")
    },
    LiveCase("T6 a reply names what it answers") { stage in
      let (alice, bob) = try await stage.pair()
      let question = try await alice.say("Tea?")
      _ = try await bob.item(saying: "Tea?")
      try await bob.send(.text("Yes", replyTo: question))
      try expect(try await alice.item(saying: "Yes").replyTo, is: question)
    },
    LiveCase("T8 a redacted message loses its content everywhere") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Regretted")
      _ = try await bob.item(saying: "Regretted")
      let own = try await alice.item(saying: "Regretted")
      try await alice.client.perform(.sending(.redact(alice.id, .item(own.id), reason: "A mistake")))
      for room in [alice, bob] {
        _ = try await room.item("it is redacted") { item in
          if case .redacted = item.content { item.eventID == event } else { false }
        }
      }
      try expect(try await bob.event(event).isRedacted, "redacted on the server")
    },
    LiveCase("T8 the message of another is not redacted without the power") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.say("Standing")
      let item = try await bob.item(saying: "Standing")
      try await expectRefusal("M_FORBIDDEN") {
        try await bob.client.perform(.sending(.redact(bob.id, .item(item.id), reason: nil)))
      }
    },
    LiveCase("T20 typing is seen by the others, and ends with the message") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await alice.client.ownID
      try await bob.client.perform(.timeline(.openRoom(bob.id)))
      try await alice.client.perform(.sending(.setDraft(alice.id, Draft("Hel"))))
      try await bob.until("she is typing") { $0.typing == [user] }
      try await alice.client.perform(.sending(.setDraft(alice.id, Draft(""))))
      try await bob.until("nobody is typing") { $0.typing.isEmpty }
      try expect(await alice.state?.typing.isEmpty == true, "users do not see themselves typing")
    }
  ]
}
