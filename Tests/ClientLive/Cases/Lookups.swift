import MatrixClient

/// Asking the server about events.
extension LiveCase {
  static let lookups = [
    LiveCase("T17 an event is found by its ID, by those in the room only") { stage in
      let (alice, _) = try await stage.pair(NewRoom(preset: .publicChat))
      let id = try await alice.say("Findable")
      let event = try await alice.event(id)
      try expect(event.content["body"]?.string, is: "Findable")
      try expect(event.sender, is: try await alice.client.ownID)
      try await expectRefusal("M_NOT_FOUND") { _ = try await alice.event(EventID(trusted: "$nothing")) }
      let secret = try await alice.client.make(NewRoom())
      let hidden = try await secret.say("Hidden")
      let stranger = try await stage.user("stranger").room(secret.id)
      try await expectRefusal("M_FORBIDDEN", "M_NOT_FOUND") { _ = try await stranger.event(hidden) }
    },
    LiveCase("T17 the context of an event is what stands around it") { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      var ids: [EventID] = []
      for number in 0..<5 { ids.append(try await alice.say("Around \(number)")) }
      let context = try await alice.context(of: ids[2], limit: 4)
      try expect(context.event.eventID, is: ids[2])
      try expect(context.before.map(\.eventID), is: [ids[1], ids[0]])
      try expect(context.after.map(\.eventID), is: [ids[3], ids[4]])
    },
    LiveCase("T17 relations of an event without any are none") { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      let id = try await alice.say("Alone")
      let page = try await alice.relations(of: id)
      try expect(page.events.count, is: 0)
      try expect(page.nextBatch, is: nil)
    },
    LiveCase("T17 the event at a time is found in either direction", needs: .version(minor: 6)) { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      let first = try await alice.say("First")
      let last = try await alice.say("Last")
      let time = try unwrap(try await alice.event(last).originServerTimestamp, "time")
      try expect(try await alice.event(at: time + 60_000, direction: .backwards).id, is: last)
      let begin = try unwrap(try await alice.event(first).originServerTimestamp, "time")
      let found = try await alice.event(at: begin, direction: .forwards)
      try expect(found.timestampMilliseconds >= begin, "not before it")
      try await expectRefusal("M_NOT_FOUND") {
        _ = try await alice.event(at: time + 60_000, direction: .forwards)
      }
    },
    LiveCase("T10 a room without threads has an empty list of them", needs: .version(minor: 4)) { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      try await alice.say("No thread")
      try expect(try await alice.threads().events.count, is: 0)
    },
    LiveCase("T18 the content of a state event is read by type and key") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom(name: "State"))
      try expect(try await room.stateContent("m.room.name")["name"]?.string, is: "State")
      let own = try await room.stateContent("m.room.member", key: try await alice.ownID.text)
      try expect(own["membership"]?.string, is: "join")
      try await expectRefusal("M_NOT_FOUND") { _ = try await room.stateContent("m.room.topic") }
    },
    LiveCase("T19 a word is found in what was said, with what stands around it") { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      let word = stage.fresh("needle")
      try await alice.say("Before it")
      let id = try await alice.say("The \(word) is here")
      try await alice.say("After it")
      var search = MessageSearch(ByteString(word))
      search.rooms = [alice.id]
      search.contextBefore = 1
      search.contextAfter = 1
      let page = try await alice.client.search(search)
      try expect(page.results.map(\.event.eventID), is: [id])
      try expect(page.results[0].before.first?.content["body"]?.string, is: "Before it")
      try expect(page.results[0].after.first?.content["body"]?.string, is: "After it")
      search.term = ByteString(stage.fresh("none"))
      try expect(try await alice.client.search(search).results.count, is: 0)
    },
    LiveCase("T19 results come in pages without overlap") { stage in
      let alice = try await stage.user("alice").make(NewRoom())
      let word = stage.fresh("often")
      var said: Set<EventID> = []
      for number in 0..<5 { said.insert(try await alice.say("\(word) \(number)")) }
      var search = MessageSearch(ByteString(word))
      search.limit = 2
      var found: [EventID] = []
      var from: ByteString?
      repeat {
        let page = try await alice.client.search(search, from: from)
        found += page.results.compactMap(\.event.eventID)
        from = page.results.isEmpty ? nil : page.nextBatch
      } while from != nil && found.count < 20
      try expect(found.count, is: 5)
      try expect(Set(found), is: said)
    }
  ]

}
