import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct RoomListTests {
  /// Rooms !a to !d, !d with the latest message.
  static func host() -> Host {
    var host = Host.signedIn()
    host.sync(
      WireRoom.join([
        WireRoom("!a:t", "Alpha", time: 100), WireRoom("!b:t", "Beta", time: 200), WireRoom("!c:t", "Çay", time: 300),
        WireRoom("!d:t", "delta", time: 400)
      ]))
    return host
  }

  static let plain = RoomListQuery(sections: [.all])

  private static func place(_ index: Int, _ section: RoomListSection = .all) -> RoomListPlace {
    RoomListPlace(section, index)
  }

  // MARK: Moves

  // Proves J43
  @Test func `a room with a new message moves in one step`() {
    var host = Self.host()
    var list = RoomListMirror(1, Self.plain, in: &host)
    #expect(list.names == [["!d:t", "!c:t", "!b:t", "!a:t"]])
    let steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!a:t", time: 500)])) }
    #expect(steps == [.moved(RoomID(trusted: "!a:t"), from: Self.place(3), to: Self.place(0))])
    #expect(list.rooms[0] == host.client.roomList(1)?.rooms(in: .all))
  }

  @Test func `a room that stays where it is is updated`() {
    var host = Self.host()
    var list = RoomListMirror(1, Self.plain, in: &host)
    let steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!d:t", time: 500)])) }
    #expect(steps == [.updated(RoomID(trusted: "!d:t"), at: Self.place(0))])
    #expect(host.steps(of: &list) { $0.sync() }.isEmpty)
  }

  @Test func `a room that becomes a favourite moves from one section to another`() {
    var host = Self.host()
    var list = RoomListMirror(1, RoomListQuery(sections: [.favourites, .rooms]), in: &host)
    var room = WireRoom("!b:t")
    room.tags = ["m.favourite": "{}"]
    let steps = host.steps(of: &list) { $0.sync(WireRoom.join([room])) }
    #expect(
      steps == [
        .moved(RoomID(trusted: "!b:t"), from: Self.place(2, .rooms), to: Self.place(0, .favourites))
      ])
  }

  @Test func `rooms come and go`() {
    var host = Self.host()
    var list = RoomListMirror(1, RoomListQuery(sections: [.invites, .rooms, .left]), in: &host)
    let e = RoomID(trusted: "!e:t")
    var steps = host.steps(of: &list) { $0.sync(WireRoom.invite("!e:t")) }
    #expect(steps == [.inserted(e, at: Self.place(0, .invites))])
    steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!e:t", time: 150)])) }
    #expect(steps == [.moved(e, from: Self.place(0, .invites), to: Self.place(3, .rooms))])
    steps = host.steps(of: &list) { $0.sync(WireRoom.leave("!e:t")) }
    #expect(steps == [.moved(e, from: Self.place(3, .rooms), to: Self.place(0, .left))])
    steps = host.steps(of: &list) { host in
      host.command(.rooms(.forget(e)))
      host.answer("/forget", "{}")
    }
    #expect(steps == [.removed(e, at: Self.place(0, .left))])
  }

  @Test func `an open list fills with the first sync and empties with the last logout`() {
    var host = Host.signedIn()
    var list = RoomListMirror(1, Self.plain, in: &host)
    #expect(list.names == [[]])
    _ = host.steps(of: &list) { host in
      host.sync(WireRoom.join((0..<100).map { (i: Int) in WireRoom("!r\(i):t", "R", time: i) }))
    }
    #expect(list.rooms[0].count == 100)
    _ = host.steps(of: &list) { host in
      host.command(.session(.logOut))
      host.answer("/logout", "{}")
    }
    #expect(list.names == [[]])
  }

  @Test func `several lists are open at once, until they are closed`() {
    var host = Self.host()
    var byName = RoomListMirror(1, RoomListQuery(sections: [.all], sort: .name), in: &host)
    var unread = RoomListMirror(2, RoomListQuery(sections: [.all], filter: RoomListFilter(.unread)), in: &host)
    #expect(byName.names == [["!a:t", "!b:t", "!c:t", "!d:t"]])
    #expect(unread.names == [[]])
    host.changes = []
    host.command(.roomList(.close(1)))
    var room = WireRoom("!b:t", time: 500)
    room.notifications = 1
    host.sync(WireRoom.join([room]))
    byName.follow(&host)
    unread.follow(&host)
    #expect(byName.steps.isEmpty)
    #expect(unread.names == [["!b:t"]])
    #expect(host.client.roomList(1) == nil)
  }

  @Test func `a list opened before a restart's records are read has its rooms then`() {
    let store = Self.host().store
    var host = Host(store: store)
    host.loadsAtOnce = false
    host.handle(.start)
    host.finishLoads()
    #expect(host.client.sessionState == .signedIn)
    let list = RoomListMirror(1, Self.plain, in: &host)
    #expect(list.names == [["!d:t", "!c:t", "!b:t", "!a:t"]])
    #expect(!host.loads.contains { $0.prefix.hasPrefix("p/") })
  }

  @Test func `a list opens without a session, and other commands fail without one`() {
    var host = Host()
    host.handle(.start)
    host.command(.roomList(.open(1, Self.plain)))
    guard case .done? = host.finished[9] else { return #expect(Bool(false), "\(host.finished)") }
    #expect(host.client.roomList(1)?.count == 0)
    for (id, command) in [Command.rooms(.visit(.test)), .session(.logOut), .sync(.pause)].enumerated() {
      host.command(command, id: CommandID(20 + id))
      guard case .failed(.notSignedIn)? = host.finished[CommandID(20 + id)] else {
        return #expect(Bool(false), "\(host.finished)")
      }
    }
  }

  // MARK: Sorting

  @Test func `what is unread stands first, mentions before the rest`() {
    var host = Self.host()
    var rooms = [WireRoom("!a:t"), WireRoom("!b:t"), WireRoom("!c:t")]
    rooms[0].notifications = 2
    rooms[0].highlights = 1
    rooms[1].notifications = 2
    rooms[2].markedUnread = true
    host.sync(WireRoom.join(rooms))
    let list = RoomListMirror(1, RoomListQuery(sections: [.all], sort: .unreadFirst), in: &host)
    #expect(list.names == [["!a:t", "!c:t", "!b:t", "!d:t"]])
  }

  @Test(arguments: [
    (["!a:t": #"{"order":0.5}"#, "!b:t": #"{"order":0.25}"#, "!c:t": "{}"], ["!b:t", "!a:t", "!c:t"]),
    (["!a:t": #"{"order":"0.9"}"#, "!b:t": #"{"order":"0.95"}"#, "!c:t": #"{"order":0.1}"#], ["!c:t", "!a:t", "!b:t"]),
    (["!a:t": #"{"order":0.5}"#, "!b:t": #"{"order":0.5}"#, "!c:t": #"{"order":5e-1}"#], ["!c:t", "!b:t", "!a:t"]),
    (["!a:t": #"{"order":"x"}"#, "!b:t": #"{"order":null}"#, "!c:t": #"{"order":1}"#], ["!c:t", "!b:t", "!a:t"]),
    (["!a:t": #"{"order":1e-3}"#, "!b:t": #"{"order":0}"#, "!c:t": #"{"order":0.00001}"#], ["!b:t", "!c:t", "!a:t"])
  ])
  func `favourites stand as their tags say, those without an order behind`(tags: [String: String], expected: [String]) {
    var host = Self.host()
    host.sync(
      WireRoom.join(
        tags.keys.sorted().map { id in
          var room = WireRoom(id)
          room.tags = ["m.favourite": tags[id] ?? "{}"]
          return room
        }))
    let query = RoomListQuery(sections: [.favourites, .rooms], sort: .tagOrder)
    #expect(RoomListMirror(1, query, in: &host).names == [expected, ["!d:t"]])
    var next = host.restarted()
    #expect(RoomListMirror(1, query, in: &next).names == [expected, ["!d:t"]])
  }

  // MARK: Filters

  @Test func `sections take the rooms in their own order, whatever the query's is`() {
    var host = Self.host()
    var rooms = [WireRoom("!a:t"), WireRoom("!b:t"), WireRoom("!c:t")]
    rooms[0].tags = ["m.favourite": "{}", "m.lowpriority": "{}"]
    rooms[1].tags = ["m.lowpriority": "{}"]
    rooms[2].tags = ["m.server_notice": "{}"]
    host.sync(
      WireRoom.join(rooms), extra: #","account_data":{"events":[{"type":"m.direct","content":{"@x:t":["!d:t"]}}]}"#)
    let query = RoomListQuery(sections: [.rooms, .people, .lowPriority, .favourites, .serverNotices, .rooms])
    #expect(RoomListMirror(1, query, in: &host).names == [[], ["!d:t"], ["!b:t"], ["!a:t"], ["!c:t"], []])
    #expect(RoomListMirror(2, RoomListQuery(sections: [.rooms]), in: &host).names == [["!c:t", "!b:t", "!a:t"]])
  }

  @Test(
    arguments: [
      ([], ["!d:t", "!c:t", "!b:t", "!a:t"]), (.unread, ["!c:t", "!b:t", "!a:t"]), (.mentions, ["!b:t"]), (.people, ["!d:t"]),
      (.groups, ["!c:t", "!b:t", "!a:t"]), (.favourites, ["!b:t", "!a:t"]), ([.favourites, .unread], ["!b:t", "!a:t"]),
      ([.people, .groups], []), (.lowPriority, []), (.encrypted, ["!a:t"]), (.unsent, [])
    ] as [(RoomListFilter.Conditions, [String])])
  func `everything in a filter has to hold`(conditions: RoomListFilter.Conditions, expected: [String]) {
    var host = Self.host()
    var rooms = [WireRoom("!a:t"), WireRoom("!b:t"), WireRoom("!c:t")]
    rooms[0].tags = ["m.favourite": "{}"]
    rooms[0].state = [Wire.event("m.room.encryption", "$e", "{}", stateKey: "")]
    rooms[1].tags = ["m.favourite": "{}"]
    rooms[1].notifications = 1
    rooms[1].highlights = 1
    rooms[2].markedUnread = true
    host.sync(
      WireRoom.join(rooms), extra: #","account_data":{"events":[{"type":"m.direct","content":{"@x:t":["!d:t"]}}]}"#)
    let query = RoomListQuery(sections: [.all], filter: RoomListFilter(conditions))
    #expect(RoomListMirror(1, query, in: &host).names == [expected])
  }

  @Test func `a search has the best names first and takes later ones in`() {
    var host = Host.signedIn()
    host.sync(
      WireRoom.join([
        WireRoom("!sub:t", "Instead", time: 100), WireRoom("!seq:t", "Then each", time: 400),
        WireRoom("!word:t", "Green tea", time: 300), WireRoom("!start:t", "Tea", time: 200),
        WireRoom("!no:t", "Coffee", time: 500)
      ]))
    var list = RoomListMirror(1, .search(" TÉA "), in: &host)
    #expect(list.names == [["!word:t", "!start:t", "!sub:t", "!seq:t"]])
    let steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!no:t", "Tea and coffee")])) }
    #expect(steps == [.inserted(RoomID(trusted: "!no:t"), at: Self.place(0))])
    let gone = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!word:t", "Green")])) }
    #expect(gone == [.removed(RoomID(trusted: "!word:t"), at: Self.place(1))])
  }

  // Proves J12
  @Test func `a hidden room is not shown until its next message`() {
    var host = Self.host()
    var list = RoomListMirror(1, Self.plain, in: &host)
    var room = WireRoom("!c:t")
    room.hidden = true
    let steps = host.steps(of: &list) { $0.sync(WireRoom.join([room])) }
    #expect(steps == [.removed(RoomID(trusted: "!c:t"), at: Self.place(1))])
    #expect(RoomListMirror(2, .search("cay"), in: &host).names == [["!c:t"]])
    var next = host.restarted()
    #expect(RoomListMirror(1, Self.plain, in: &next).names == [["!d:t", "!b:t", "!a:t"]])
    room.hidden = false
    room.time = 500
    let back = host.steps(of: &list) { $0.sync(WireRoom.join([room])) }
    #expect(back == [.inserted(RoomID(trusted: "!c:t"), at: Self.place(0))])
  }

  // MARK: Pages

  // Proves J42
  @Test func `of a long section the first pages are shown`() {
    var host = Self.host()
    var list = RoomListMirror(1, RoomListQuery(sections: [.all], pageSize: 2), in: &host)
    #expect(list.names == [["!d:t", "!c:t"]])
    #expect(host.client.roomList(1)?.count(of: .all) == 4)
    #expect(host.client.roomList(1)?.allRooms(in: .all).map(\.string) == ["!d:t", "!c:t", "!b:t", "!a:t"])
    let a = RoomID(trusted: "!a:t")
    var steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!a:t", time: 500)])) }
    #expect(steps == [.removed(RoomID(trusted: "!c:t"), at: Self.place(1)), .inserted(a, at: Self.place(0))])
    steps = host.steps(of: &list) { $0.command(.roomList(.grow(1, .all))) }
    #expect(
      steps == [
        .inserted(RoomID(trusted: "!c:t"), at: Self.place(2)), .inserted(RoomID(trusted: "!b:t"), at: Self.place(3))
      ])
    #expect(host.steps(of: &list) { $0.command(.roomList(.grow(1, .all))) }.isEmpty)
    steps = host.steps(of: &list) { $0.sync(WireRoom.join([WireRoom("!e:t", "E", time: 450)])) }
    #expect(
      steps == [.removed(RoomID(trusted: "!b:t"), at: Self.place(3)), .inserted(RoomID(trusted: "!e:t"), at: Self.place(1))])
    #expect(host.client.roomList(1)?.place(of: RoomID(trusted: "!b:t")) == nil)
    #expect(host.client.roomList(1)?.place(of: a) == Self.place(0))
    #expect(host.client.roomList(1)?[Self.place(1)]?.string == "!e:t")
    #expect(host.client.roomList(1)?[Self.place(4)] == nil)
  }
}
