import MatrixClient

/// Lists of rooms, and what the account keeps of a room for itself.
extension LiveCase {
  static let roomLists = [
    LiveCase("R17 a room with a new message moves in one step") { stage in
      let alice = try await stage.user("alice")
      let tea = try await alice.make(NewRoom(name: "Tea"))
      let coffee = try await alice.make(NewRoom(name: "Coffee"))
      try await coffee.say("hot")
      let list = await alice.roomList(RoomListQuery(sections: [.rooms]))
      try expect(await list.rooms(in: .rooms), is: [coffee.id, tea.id])
      var shown = ListCopy(list)
      let changes = await list.changes()
      try await tea.say("black")
      for await steps in changes {
        shown.apply(steps)
        if shown.rooms[0].first == tea.id { break }
      }
      try expect(shown.moves, is: [.moved(tea.id, from: RoomListPlace(.rooms, 1), to: RoomListPlace(.rooms, 0))])
      try expect(await list.sections.map(\.rooms), is: shown.rooms)
    },
    LiveCase("R17 rooms come into a list with an invitation and go when they are left") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob")
      let list = await bob.roomList(RoomListQuery(sections: [.invites, .rooms, .left]))
      var shown = ListCopy(list)
      let changes = await list.changes()
      let room = try await alice.make(NewRoom(name: "Tea", invited: [try await bob.ownID]))
      var isJoining = false
      for await steps in changes {
        shown.apply(steps)
        if shown.rooms[0] == [room.id], !isJoining {
          isJoining = true
          Task { try await bob.room(room.id).join() }
        } else if shown.rooms[1] == [room.id] {
          Task { try await bob.room(room.id).leave() }
        } else if isJoining, shown.rooms[0].isEmpty, shown.rooms[1].isEmpty {
          break
        }
      }
      try expect(shown.rooms[0] + shown.rooms[1], is: [])
    },
    LiveCase("R17 a list is searched by names and filtered by what is unread") { stage in
      let (alice, bob) = try await stage.pair(NewRoom(preset: .publicChat, name: "Crème brûlée"))
      _ = try await bob.client.make(NewRoom(name: "Coffee"))
      let found = await bob.client.roomList(.search("BRULEE"))
      try expect(await found.rooms(in: .all), is: [bob.id])
      let unread = await bob.client.roomList(RoomListQuery(filter: RoomListFilter(.unread)))
      try await alice.send("sweet")
      try await bob.until("it is unread") { $0.isUnread }
      try expect(await unread.rooms(in: .rooms), is: [bob.id])
    },
    LiveCase("R18 an edit of the last message updates the row") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("furst")
      try await bob.until("the message") { $0.preview?.content?.body == "furst" }
      try await alice.client.perform(.sending(.edit(alice.id, .event(event), FormattedText("first"))))
      let room = try await bob.until("the edit") { $0.preview?.content?.body == "first" }
      try expect(room.preview?.eventID, is: event)
    },
    LiveCase("R10 tags and their order are the same on another device") { stage in
      let alice = try await stage.user("alice")
      let rooms = [try await alice.make(NewRoom()), try await alice.make(NewRoom()), try await alice.make(NewRoom())]
      try await rooms[0].setFavourite(true, order: 0.75)
      try await rooms[1].setFavourite(true, order: 0.25)
      try await rooms[2].setFavourite(true)
      try await rooms[2].setTag("u.work")
      let ids = [rooms[1].id, rooms[0].id, rooms[2].id]
      let other = try await stage.device(of: alice)
      _ = try await other.until("the tags") { client in
        client.rooms(tagged: "u.work").isEmpty || client.rooms(tagged: RoomTag.favourite) != ids ? nil : true
      }
      let list = await other.roomList(RoomListQuery(sections: [.favourites], sort: .tagOrder))
      try expect(await list.rooms(in: .favourites), is: ids)
      _ = try await alice.until("the tags") { $0.rooms(tagged: RoomTag.favourite) == ids ? true : nil }
      try await rooms[2].setTag(RoomTag.favourite, at: 0)
      _ = try await other.until("the move") { $0.rooms(tagged: RoomTag.favourite).first == ids[2] ? true : nil }
      try await rooms[0].setLowPriority(true)
      try await other.room(rooms[0].id).until("it is of low priority") { $0.isLowPriority && !$0.isFavourite }
      try await rooms[2].removeTag("u.work")
      try await other.room(rooms[2].id).until("a tag less") { $0.tag("u.work") == nil }
    },
    LiveCase("R18 a room is marked as unread on every device, until it is read") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom())
      try await room.say("later")
      let other = try await stage.device(of: alice).room(room.id)
      try await room.markUnread()
      try await other.until("the mark") { $0.isMarkedUnread && $0.isUnread }
      let item = try await other.item(saying: "later")
      try await other.client.perform(.reading(.viewed(other.id, upTo: item.id)))
      try await room.until("no mark") { !$0.isMarkedUnread }
    },
    LiveCase("R18 the rooms visited last follow the account") { stage in
      let alice = try await stage.user("alice")
      let rooms = [try await alice.make(NewRoom()), try await alice.make(NewRoom())]
      for room in rooms { try await room.visit() }
      let other = try await stage.device(of: alice)
      _ = try await other.until("both") { $0.breadcrumbs == [rooms[1].id, rooms[0].id] ? true : nil }
      try await other.room(rooms[0].id).visit()
      _ = try await alice.until("the other order") { $0.breadcrumbs == [rooms[0].id, rooms[1].id] ? true : nil }
    },
    LiveCase("R11 a room is made a direct chat on every device, and no more") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      let other = try await stage.device(of: alice.client).room(alice.id)
      try await alice.setDirect(with: user)
      try await other.until("it is direct") { $0.directUserID == user }
      try await alice.until("it is direct") { $0.directUserID == user }
      try expect(try await alice.client.perform(.rooms(.openDirectChat(with: user.text))), is: alice.id)
      try await other.setDirect(with: nil)
      try await alice.until("it is not direct") { !$0.isDirect }
    },
    LiveCase("R11 a direct chat that is asked for twice at once is one room") { stage in
      let alice = try await stage.user("alice")
      let bob = try await stage.user("bob").ownID
      async let first = alice.perform(.rooms(.openDirectChat(with: bob.text)))
      async let second = alice.perform(.rooms(.openDirectChat(with: bob.text)))
      let rooms = try await (first, second)
      try expect(rooms.0, is: rooms.1)
    },
    // Proves J12
    LiveCase("R17 a hidden room comes back with the next message", needs: .extension("martlet.hide")) { stage in
      let (alice, bob) = try await stage.pair(NewRoom(preset: .publicChat, name: "Tea"))
      try expect(try await bob.client.canHideRooms(), "it is announced")
      let list = await bob.client.roomList()
      try expect(await list.rooms(in: .rooms), is: [bob.id])
      try await bob.hide()
      try await bob.until("it is hidden") { $0.isHidden }
      try expect(await list.rooms(in: .rooms), is: [])
      try await alice.send("hello?")
      try await bob.until("it is back") { !$0.isHidden && $0.preview?.content?.body == "hello?" }
      try expect(await list.rooms(in: .rooms), is: [bob.id])
      try expect(try await bob.client.hideRooms(), is: 1)
      try await bob.unhide()
      try await bob.until("it is back") { !$0.isHidden }
    }
  ]
}

/// A copy of a list that knows its changes only.
private struct ListCopy {
  let sections: [RoomListSection]
  private(set) var rooms: [[RoomID]]
  private(set) var moves: [RoomListChange] = []

  init(_ list: MatrixRoomList) {
    sections = list.query.sections
    rooms = sections.map { _ in [] }
  }

  mutating func apply(_ steps: [RoomListChange]) {
    for step in steps {
      switch step {
      case .inserted(let room, let place): rooms[shelf(place)].insert(room, at: place.index)
      case .removed(_, let place): rooms[shelf(place)].remove(at: place.index)
      case .moved(let room, let from, let to):
        rooms[shelf(from)].remove(at: from.index)
        rooms[shelf(to)].insert(room, at: to.index)
        moves.append(step)
      case .updated: break
      case .reset(let new): rooms = new
      }
    }
  }

  private func shelf(_ place: RoomListPlace) -> Int { sections.firstIndex(of: place.section) ?? 0 }
}
