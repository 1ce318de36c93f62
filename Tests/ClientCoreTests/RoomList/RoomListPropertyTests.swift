import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct RoomListPropertyTests {
  /// A small generator of its own, so that a seed stands for a run.
  struct Dice {
    var random: RandomSource
    init(_ seed: UInt64) { random = RandomSource(seed: seed) }
    mutating func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
    mutating func pick<Element>(_ from: [Element]) -> Element { from[roll(from.count)] }
  }

  static let queries = [
    RoomListQuery(),
    RoomListQuery(sections: [.all], sort: .name),
    RoomListQuery(sections: [.all], sort: .unreadFirst, pageSize: 5),
    RoomListQuery(sections: [.favourites, .lowPriority, .rooms], sort: .tagOrder, pageSize: 3),
    RoomListQuery(sections: [.invites, .spaces, .left, .rooms]),
    RoomListQuery(filter: RoomListFilter([.unread])),
    RoomListQuery(sections: [.all], filter: RoomListFilter(place: .inSpace(RoomID(trusted: "!s0:t")))),
    RoomListQuery(filter: RoomListFilter(place: .outsideSpaces)),
    .search("ta", pageSize: 4)
  ]

  static let names = ["Tea", "Tabla", "Table", "Átna", "Coffee", "Ta", "Trattoria", "Beta", "Gamma"]

  /// One sync, or something the person does.
  static func step(_ host: inout Host, _ dice: inout Dice, _ time: Int) {
    let spaces = ["!s0:t", "!s1:t", "!s2:t"]
    let id = dice.roll(4) == 0 ? dice.pick(spaces) : "!r\(dice.roll(20)):t"
    var room = WireRoom(id)
    if spaces.contains(id) { room.state.append(Wire.event("m.room.create", "$c", #"{"type":"m.space"}"#, stateKey: "")) }
    switch dice.roll(11) {
    case 0: room.time = time
    case 1: room.name = dice.pick(names)
    case 2: room.tags = [dice.pick(["m.favourite", "m.lowpriority"]): #"{"order":0.\#(dice.roll(9))}"#]
    case 3: room.tags = [:]
    case 4: room.notifications = dice.roll(3)
    case 5: room.markedUnread = dice.roll(2) == 0
    case 6: room.hidden = dice.roll(2) == 0
    case 7: return host.sync(WireRoom.leave(id))
    case 8: return host.sync(WireRoom.invite(id))
    case 9:
      let child = dice.roll(3) == 0 ? dice.pick(spaces) : "!r\(dice.roll(20)):t"
      let content = dice.roll(3) == 0 ? "{}" : #"{"via":["t"]}"#
      room.id = dice.pick(spaces)
      room.state = [
        Wire.event("m.room.create", "$c", #"{"type":"m.space"}"#, stateKey: ""),
        Wire.event("m.space.child", "$s", time: time, content, stateKey: child)
      ]
    default: return host.command(.reading(.markUnread(RoomID(trusted: ByteString(id)), dice.roll(2) == 0)))
    }
    host.sync(WireRoom.join([room]))
  }

  // Proves J43
  @Test(arguments: UInt64(1)...6)
  func `the changes of random syncs always give the list that sorting from scratch gives`(seed: UInt64) {
    var dice = Dice(seed)
    var host = Host.signedIn(seed: seed)
    host.comparesMirrors = false
    var mirrors = Self.queries.enumerated().map { RoomListMirror(RoomListID($0 + 1), $1, in: &host) }
    for round in 0..<120 {
      host.changes = []
      Self.step(&host, &dice, 1_000 + round)
      if dice.roll(5) == 0 { host.command(.roomList(.grow(RoomListID(dice.roll(Self.queries.count) + 1), .rooms))) }
      for i in mirrors.indices {
        mirrors[i].follow(&host)
        #expect(mirrors[i].rooms == host.client.roomList(mirrors[i].id)?.rooms, "round \(round), \(mirrors[i].query)")
      }
    }
    for mirror in mirrors { Self.compare(mirror, host) }
  }

  /// With a list that is opened now.
  private static func compare(_ mirror: RoomListMirror, _ host: Host) {
    var host = host
    var query = mirror.query
    query.pageSize = nil
    let fresh = RoomListMirror(99, query, in: &host)
    for (shown, all) in zip(mirror.rooms, fresh.rooms) { #expect(Array(all.prefix(shown.count)) == shown) }
    if mirror.query.pageSize == nil { #expect(mirror.rooms == fresh.rooms) }
  }

  @Test(arguments: UInt64(1)...4)
  func `the counts of spaces are those of counting from scratch`(seed: UInt64) {
    var dice = Dice(seed)
    var host = Host.signedIn(seed: seed)
    host.comparesMirrors = false
    for round in 0..<150 {
      Self.step(&host, &dice, 1_000 + round)
      guard round % 10 == 0 else { continue }
      let graph = host.client.spaces
      for space in graph.spaces {
        var expected = SpaceCounts()
        for id in graph.rooms(in: space) {
          guard let room = host.client.room(id), room.membership == .join, !room.isSpace else { continue }
          expected.notifications += room.notificationCount
          expected.highlights += room.highlightCount
          expected.unreadRooms += room.isUnread ? 1 : 0
        }
        #expect(graph.counts(of: space) == expected, "round \(round) \(space)")
      }
      let next = host.restarted().client.spaces
      #expect(next.spaces == graph.spaces)
      for space in graph.spaces {
        #expect(next.children(of: space) == graph.children(of: space))
        #expect(next.counts(of: space).notifications == graph.counts(of: space).notifications)
      }
    }
  }

  @Test func `a list of 10,000 rooms is not filled anew for one of them`() {
    var host = Host.signedIn()
    host.comparesMirrors = false
    host.sync(WireRoom.join((0..<10_000).map { WireRoom("!r\($0):t", "Room \($0)", time: 1_000 + $0) }))
    var lists = Self.queries.prefix(3).enumerated().map { RoomListMirror(RoomListID($0 + 1), $1, in: &host) }
    for i in 0..<5 {
      host.changes = []
      host.sync(WireRoom.join([WireRoom("!r\(i * 311):t", time: 20_000 + i)]))
      for l in lists.indices {
        lists[l].follow(&host)
        // Where pages are full one comes and one goes.
        #expect(lists[l].steps.count <= 2)
        #expect(lists[l].rooms == host.client.roomList(lists[l].id)?.rooms)
      }
    }
  }
}
