import Testing

@testable import MatrixClient

@Suite struct RoomListModelTests {
  private static func id(_ name: String) -> RoomID { RoomID(trusted: ByteString("!\(name):test")) }

  /// A room of that name; the later its time, the higher it stands.
  private static func room(_ name: String, at time: Int, tags: String? = nil, unread: Int? = nil) -> String {
    Script.room(
      "!\(name):test", [Script.message("hello", "$\(name)\(time)", at: time)], state: [Script.name(name)], unread: unread,
      data: tags.map { [Script.data("m.tag", #"{"tags":{\#($0)}}"#)] } ?? [])
  }

  /// Rooms by section, in short.
  @MainActor private static func shown(_ list: RoomListModel) -> [String] {
    list.sections.filter { !$0.rooms.isEmpty }.map { section in
      "\(section.id): " + section.rooms.map { list[$0].name }.joined(separator: " ")
    }
  }

  @MainActor private static func signedIn(
    _ body: @MainActor (ClientModel, ScriptedServer) async throws -> Void
  ) async throws {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    let rooms = Script.rooms(
      room("Tea", at: 5), room("Cake", at: 4, tags: #""m.favourite":{}"#), room("Dust", at: 3, tags: #""m.lowpriority":{}"#),
      room("Alice", at: 2), room("Travel", at: 1), invited: [Script.invite("!Party:test", name: "Party")])
    script.push(rooms + "," + Script.accountData(Script.data("m.direct", #"{"@alice:test":["!Alice:test"]}"#)))
    let client = try await MatrixClient.logIn(to: server.url, user: "me", password: "x")
    try await body(ClientModel(client), script)
    await client.stop()
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `rooms stand in their sections, and a tag moves the same row to another`()
    async throws
  {
    try await Self.signedIn { model, script in
      let list = model.roomList
      await ModelTests.until { list.isLoaded && list[Self.id("Tea")].isKnown }
      #expect(
        Self.shown(list) == [
          "invites: Party", "favourites: Cake", "people: Alice", "rooms: Tea Travel", "lowPriority: Dust"
        ])
      let travel = list[Self.id("Travel")]
      #expect(!travel.isFavourite)
      script.push(Script.rooms(Self.room("Travel", at: 9, tags: #""m.favourite":{"order":0.1}"#, unread: 2)))
      await ModelTests.until { list[.favourites].count == 2 }
      #expect(Self.shown(list)[1...] == ["favourites: Travel Cake", "people: Alice", "rooms: Tea", "lowPriority: Dust"])
      #expect(list[Self.id("Travel")] === travel)
      await ModelTests.until { travel.isFavourite && travel.isUnread }
      #expect(list === model.roomList)
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a list shows what fits its filter and its words, in its order`() async throws
  {
    try await Self.signedIn { model, script in
      let list = model.roomList(RoomListQuery(sections: [.people, .rooms, .all], sort: .name))
      await ModelTests.until { list.isLoaded && list[Self.id("Tea")].isKnown }
      #expect(Self.shown(list) == ["people: Alice", "rooms: Cake Dust Tea Travel", "all: Party"])
      list.searchText = "t"
      await ModelTests.until { list.roomIDs.count == 4 }
      // The beginning of a word before what stands within one.
      #expect(Self.shown(list) == ["rooms: Tea Travel Dust", "all: Party"])
      list.searchText = "trv"
      await ModelTests.until { Self.shown(list) == ["rooms: Travel"] }
      list.query = RoomListQuery(filter: RoomListFilter(.unread))
      await ModelTests.until { list.roomIDs.isEmpty }
      #expect(list.searchText.isEmpty)
      script.push(Script.rooms(Self.room("Dust", at: 9, unread: 1)))
      await ModelTests.until { Self.shown(list) == ["lowPriority: Dust"] }
      await ModelTests.until { model.roomList.roomIDs.count == 6 }
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a long section is shown by pages and counts those behind them`() async throws
  {
    try await Self.signedIn { model, script in
      let list = model.roomList(RoomListQuery(sections: [.all], pageSize: 2))
      await ModelTests.until { list.isLoaded }
      let (tea, cake, dust) = (Self.id("Tea"), Self.id("Cake"), Self.id("Dust"))
      #expect(list.sections.map { $0.count } == [6] && list.sections[0].hasMore)
      #expect(list[.all] == [tea, cake])
      await list.showMore(of: .all)
      await ModelTests.until { list[.all] == [tea, cake, dust, Self.id("Alice")] }
      // One behind what is shown.
      script.push(Script.rooms(Self.room("Old", at: 0)))
      await ModelTests.until { list.sections.map { $0.count } == [7] }
      script.push(Script.rooms(Self.room("Old", at: 20)))
      await ModelTests.until { list[.all] == [Self.id("Old"), tea, cake, dust] }
      #expect(list[Self.id("Old")].name == "Old")
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `rooms that the user has left have a row if a list asks for them`()
    async throws
  {
    try await Self.signedIn { model, script in
      let list = model.roomList(RoomListQuery(sections: [.left]))
      await ModelTests.until { list.isLoaded }
      #expect(list.roomIDs.isEmpty)
      script.push(#""rooms":{"leave":{"!Tea:test":{}}}"#)
      await ModelTests.until { list.roomIDs == [Self.id("Tea")] }
      #expect(list[Self.id("Tea")].name == "Tea")
      let later = model.roomList(RoomListQuery(sections: [.left]))
      await ModelTests.until { later.roomIDs == [Self.id("Tea")] }
      #expect(ClientModel(model.client).roomList.roomIDs.isEmpty)
      let other = ClientModel(model.client).roomList(RoomListQuery(sections: [.left]))
      await ModelTests.until { other.isLoaded && other[Self.id("Tea")].isKnown }
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a list is open while its model lives`() async throws {
    try await Self.signedIn { model, _ in
      var list: RoomListModel? = model.roomList(RoomListQuery(sort: .unreadFirst))
      await ModelTests.until { [list] in list?.isLoaded ?? false }
      let id = await model.client.lastRoomList
      await model.client.wait { @Sendable in $0.roomList(id) != nil }
      weak let dropped = list
      list = nil
      #expect(dropped == nil)
      while await model.client.core.roomList(id) != nil { await Task.yield() }
    }
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `a list may be there before anybody is signed in, and is empty again after`()
    async throws
  {
    let script = ScriptedServer()
    let server = FixtureServer(answer: script.answer)
    defer { server.stop() }
    script.push(Script.rooms(Self.room("Tea", at: 1)))
    let client = try await MatrixClient(homeserver: server.url)
    let model = ClientModel(client)
    let list = model.roomList
    await ModelTests.until { list.isLoaded }
    #expect(list.roomIDs.isEmpty)
    try await client.perform(.session(.logIn(user: "me", password: "x")))
    await ModelTests.until { Self.shown(list) == ["rooms: Tea"] }
    try await client.perform(.session(.logOut))
    await ModelTests.until { list.roomIDs.isEmpty }
    await client.stop()
  }
}
