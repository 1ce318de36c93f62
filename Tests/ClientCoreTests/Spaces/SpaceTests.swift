import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SpaceTests {
  static let created = Wire.event("m.room.create", "$c", by: "@me:test", #"{"type":"m.space"}"#, stateKey: "")

  static func child(_ room: String, order: String? = nil, time: Int = 1, suggested: Bool = false, via: String = #"["t"]"#)
    -> String
  {
    let order = order.map { #","order":\#($0)"# } ?? ""
    return Wire.event(
      "m.space.child", "$s\(room)", time: time, #"{"via":\#(via)\#(order),"suggested":\#(suggested)}"#, stateKey: room)
  }

  static func space(_ id: String, _ state: [String], name: String? = nil) -> WireRoom {
    var room = WireRoom(id, name)
    room.state = [created] + state
    return room
  }

  static func host(_ rooms: [WireRoom]) -> Host {
    var host = Host.signedIn()
    host.sync(WireRoom.join(rooms))
    return host
  }

  private static func id(_ text: String) -> RoomID { RoomID(trusted: ByteString(text)) }
  private static func texts(_ rooms: some Sequence<RoomID>) -> [String] { rooms.map { $0.string } }

  // MARK: Children

  // Spec: "Ordering of children within a space", the example and what stands beside it.
  @Test func `children stand in the order of the specification`() {
    let host = Self.host([
      Self.space(
        "!s:t",
        [
          Self.child("!d:t", time: 1_640_741), Self.child("!e:t", time: 1_640_641), Self.child("!c:t", order: #""first""#),
          Self.child("!a:t", order: #""aaaa""#), Self.child("!b:t", order: #"" ""#),
          // The same order, then the same time.
          Self.child("!g:t", order: #""z""#, time: 5), Self.child("!f:t", order: #""z""#, time: 5),
          Self.child("!h:t", order: #""z""#, time: 4),
          // Invalid orders are none.
          Self.child("!i:t", order: #""é""#, time: 2_000_000), Self.child("!j:t", order: "5", time: 2_000_001),
          Self.child("!k:t", order: #""\#(String(repeating: "a", count: 51))""#, time: 2_000_002),
          Self.child("!l:t", order: #""\#(String(repeating: "a", count: 50))""#)
        ])
    ])
    let expected = ["!b", "!a", "!l", "!c", "!h", "!f", "!g", "!e", "!d", "!i", "!j", "!k"].map { $0 + ":t" }
    #expect(Self.texts(host.client.spaces.children(of: Self.id("!s:t"))) == expected)
    #expect(Self.texts(host.restarted().client.spaces.children(of: Self.id("!s:t"))) == expected)
  }

  @Test func `without servers, or with servers that are no list, a room is no child`() {
    var host = Self.host([
      Self.space("!s:t", [Self.child("!a:t", suggested: true), Self.child("!b:t", via: #""t""#), Self.child("!c:t")])
    ])
    #expect(Self.texts(host.client.spaces.children(of: Self.id("!s:t"))) == ["!a:t", "!c:t"])
    #expect(host.client.room(Self.id("!s:t"))?.spaceChildren.first?.isSuggested == true)
    host.changes = []
    host.sync(WireRoom.join([Self.space("!s:t", [Wire.event("m.space.child", "$x", "{}", stateKey: "!a:t")])]))
    #expect(Self.texts(host.client.spaces.children(of: Self.id("!s:t"))) == ["!c:t"])
    #expect(host.changes.contains { if case .spaces(let spaces) = $0 { Self.texts(spaces) == ["!s:t"] } else { false } })
  }

  @Test func `only so many children of a space are kept`() {
    var state = SpaceState()
    func take(_ i: Int) -> Bool {
      guard let event = (try? JSON.parse(Array(Self.child("!r\(i):t").utf8))).flatMap({ Event($0) }) else { return false }
      return state.take(event, ByteString("!r\(i):t"))
    }
    for i in 0..<Limits.spaceChildren { _ = take(i) }
    #expect(state.children.count == Limits.spaceChildren)
    #expect(!take(Limits.spaceChildren))
    #expect(take(0))
    #expect(state.children.count == Limits.spaceChildren)
  }

  // MARK: Parents

  private static func parent(_ space: String, by sender: String, canonical: Bool = false) -> String {
    Wire.event("m.space.parent", "$p", by: sender, #"{"via":["t"],"canonical":\#(canonical)}"#, stateKey: space)
  }

  private static let power = Wire.event(
    "m.room.power_levels", "$pl", #"{"users":{"@boss:t":100},"events":{"m.space.child":100}}"#, stateKey: "")

  @Test func `a room that says it is in a space is, where the space or somebody who may says so too`() {
    var a = WireRoom("!a:t")
    a.state = [Self.parent("!s:t", by: "@boss:t", canonical: true)]
    var b = WireRoom("!b:t")
    b.state = [Self.parent("!s:t", by: "@nobody:t")]
    var c = WireRoom("!c:t")
    c.state = [Self.parent("!s:t", by: "@nobody:t", canonical: true)]
    var host = Self.host([a, b, c, Self.space("!s:t", [Self.power, Self.child("!c:t")])])
    #expect(Self.texts(host.client.spaces.children(of: Self.id("!s:t"))) == ["!c:t", "!a:t"])
    #expect(host.client.canonicalParent(of: Self.id("!a:t"))?.string == "!s:t")
    #expect(host.client.canonicalParent(of: Self.id("!b:t")) == nil)
    #expect(Self.texts(host.client.spaces.parents(of: Self.id("!c:t"))) == ["!s:t"])
    // The member who set it lost the right meanwhile.
    let demoted = Wire.event(
      "m.room.power_levels", "$pl2", #"{"users":{"@boss:t":50},"events":{"m.space.child":100}}"#, stateKey: "")
    host.sync(WireRoom.join([Self.space("!s:t", [demoted])]))
    #expect(Self.texts(host.client.spaces.children(of: Self.id("!s:t"))) == ["!c:t"])
    #expect(Self.texts(host.client.orphanRooms).sorted() == ["!a:t", "!b:t"])
  }

  // MARK: The graph

  @Test func `a tree has each space before what is in it, down to where a circle closes`() {
    let host = Self.host([
      Self.space("!top:t", [Self.child("!mid:t"), Self.child("!r:t", time: 2)], name: "Top"),
      Self.space("!mid:t", [Self.child("!low:t")], name: "Mid"),
      Self.space("!low:t", [Self.child("!top:t"), Self.child("!mid:t", time: 2), Self.child("!q:t", time: 3)], name: "Low"),
      WireRoom("!r:t"), WireRoom("!q:t"), WireRoom("!alone:t")
    ])
    let graph = host.client.spaces
    // A circle of three: the lowest room ID is its root.
    #expect(Self.texts(graph.roots) == ["!low:t"])
    #expect(
      graph.tree(of: Self.id("!top:t")).map { "\($0.depth)\($0.room)" } == [
        "0!top:t", "1!mid:t", "2!low:t", "3!q:t", "1!r:t"
      ])
    #expect(graph.tree(spacesOnly: true).map { "\($0.depth)\($0.room)" } == ["0!low:t", "1!top:t", "2!mid:t", "1!mid:t"])
    #expect(graph.rooms(in: Self.id("!mid:t")).sorted().map { $0.string } == ["!low:t", "!q:t", "!r:t", "!top:t"])
    #expect(Self.texts(graph.ancestors(of: Self.id("!q:t"))) == ["!low:t", "!mid:t", "!top:t"])
    #expect(Self.texts(graph.ancestors(of: Self.id("!top:t"))) == ["!low:t", "!mid:t"])
    #expect(Self.texts(host.client.orphanRooms) == ["!alone:t"])
  }

  @Test func `a space in itself and two in each other do no harm`() {
    var host = Self.host([
      Self.space("!self:t", [Self.child("!self:t"), Self.child("!r:t")], name: "b"),
      Self.space("!x:t", [Self.child("!y:t")], name: "a"), Self.space("!y:t", [Self.child("!x:t")]), WireRoom("!r:t")
    ])
    #expect(Self.texts(host.client.spaces.roots) == ["!self:t", "!x:t"])
    #expect(Self.texts(host.client.topLevelSpaces) == ["!x:t", "!self:t"])
    #expect(host.client.spaces.tree().count == 4)
    var room = WireRoom("!r:t", time: 5)
    room.notifications = 2
    host.sync(WireRoom.join([room]))
    #expect(host.client.spaces.counts(of: Self.id("!self:t")).notifications == 2)
    host.sync(WireRoom.leave("!x:t"))
    #expect(Self.texts(host.client.spaces.roots) == ["!self:t", "!y:t"])
  }

  @Test func `spaces stand in the order one gave them, then by name; one moves by as few orders as it takes`() throws {
    func ordered(_ id: String, _ name: String, _ order: String?) -> WireRoom {
      var space = Self.space(id, [], name: name)
      space.spaceOrder = order
      return space
    }
    var host = Self.host([
      ordered("!a:t", "Anna", nil), ordered("!b:t", "Berta", "n"),
      ordered("!c:t", "Cesar", "c"), ordered("!d:t", "Dora", "é")
    ])
    // What is no order counts as none.
    #expect(Self.texts(host.client.topLevelSpaces) == ["!c:t", "!b:t", "!a:t", "!d:t"])
    let up = host.client.topLevelSpaceOrders(toMove: Self.id("!d:t"), to: 1)
    #expect(up.map { $0.space.string } == ["!d:t"])
    let order = try #require(up.first?.order.string)
    #expect(order > "c" && order < "n")
    host.sync(WireRoom.join([ordered("!d:t", "Dora", order)]))
    #expect(Self.texts(host.client.topLevelSpaces) == ["!c:t", "!d:t", "!b:t", "!a:t"])
    #expect(host.client.topLevelSpaceOrders(toMove: Self.id("!d:t"), to: 1).isEmpty)
    // Whatever stands before it gets one, too.
    let down = host.client.topLevelSpaceOrders(toMove: Self.id("!c:t"), to: 3)
    #expect(down.map { $0.space.string } == ["!a:t", "!c:t"])
  }

  @Test func `a tree ends where rooms stand in too many places`() {
    // Each level has every space of the next: 6^6 paths.
    var rooms: [WireRoom] = []
    for level in 0..<6 {
      for i in 0..<6 {
        rooms.append(Self.space("!l\(level)n\(i):t", (0..<6).map { Self.child("!l\(level + 1)n\($0):t") }))
      }
    }
    let host = Self.host(rooms)
    #expect(host.client.spaces.tree().count == Limits.spaceBranches)
    #expect(host.client.spaces.rooms(in: Self.id("!l0n0:t")).count == 36)
  }

  @Test func `a chain of spaces is followed down to its limit in a tree, and whole in what is in it`() {
    let count = Limits.spaceDepth + 10
    let host = Self.host((0..<count).map { Self.space("!s\($0):t", [Self.child("!s\($0 + 1):t")]) })
    #expect(host.client.spaces.tree().count == Limits.spaceDepth)
    #expect(host.client.spaces.rooms(in: Self.id("!s0:t")).count == count)
  }

  // MARK: Counts

  @Test func `a room that is in a space twice counts once`() {
    var room = WireRoom("!r:t", time: 1)
    room.notifications = 3
    room.highlights = 1
    var host = Self.host([
      Self.space("!top:t", [Self.child("!a:t"), Self.child("!b:t")]), Self.space("!a:t", [Self.child("!r:t")]),
      Self.space("!b:t", [Self.child("!r:t"), Self.child("!q:t")]), room, WireRoom("!q:t")
    ])
    let expected = SpaceCounts(notifications: 3, highlights: 1, unreadRooms: 1)
    for space in ["!top:t", "!a:t", "!b:t"] { #expect(host.client.spaces.counts(of: Self.id(space)) == expected) }
    host.changes = []
    host.command(.reading(.markUnread(Self.id("!q:t"), true)))
    #expect(host.client.spaces.counts(of: Self.id("!top:t")).unreadRooms == 2)
    #expect(
      host.changes.contains {
        if case .spaceCounts(let spaces) = $0 { Self.texts(spaces) == ["!b:t", "!top:t"] } else { false }
      })
    // A restart counts what the server has; the mark is still on its way.
    #expect(host.restarted().client.spaces.counts(of: Self.id("!top:t")) == expected)
  }

  @Test func `a list of a space follows what is put into it`() {
    var host = Self.host([
      Self.space("!s:t", [Self.child("!sub:t")]), Self.space("!sub:t", [Self.child("!a:t")]), WireRoom("!a:t", time: 1),
      WireRoom("!b:t", time: 2)
    ])
    let inSpace = RoomListQuery(sections: [.all], filter: RoomListFilter(place: .inSpace(Self.id("!s:t"))))
    var list = RoomListMirror(1, inSpace, in: &host)
    var rest = RoomListMirror(2, RoomListQuery(sections: [.all], filter: RoomListFilter(place: .outsideSpaces)), in: &host)
    #expect(list.names == [["!a:t"]])
    #expect(rest.names == [["!b:t"]])
    host.changes = []
    host.sync(WireRoom.join([Self.space("!sub:t", [Self.child("!b:t")])]))
    list.follow(&host)
    rest.follow(&host)
    #expect(list.steps == [.inserted(Self.id("!b:t"), at: RoomListPlace(.all, 0))])
    #expect(rest.steps == [.removed(Self.id("!b:t"), at: RoomListPlace(.all, 0))])
    let gone = host.steps(of: &list) {
      $0.sync(WireRoom.join([Self.space("!s:t", [Wire.event("m.space.child", "$x", "{}", stateKey: "!sub:t")])]))
    }
    #expect(gone.count == 2)
    #expect(list.names == [[]])
  }

  // MARK: Changing

  @Test func `a room is put into a space and what is known of it there stays`() {
    var host = Self.host([Self.space("!s:t", []), WireRoom("!a:t")])
    let space = Self.id("!s:t")
    host.command(.spaces(.setChild(Self.id("!a:t"), in: space, SpaceChildChange(isSuggested: true))))
    host.answer("/state/m.space.child/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"none"}"#)
    var body = host.body("/state/m.space.child/%21a%3At")
    #expect(body?["via"]?.elements.map { $0.string ?? "" } == ["test", "t"])
    #expect(body?["suggested"]?.bool == true)
    host.answer("/state/m.space.child/", #"{"event_id":"$x"}"#)
    #expect(host.result() == "done")
    host.command(.spaces(.setChild(Self.id("!a:t"), in: space, SpaceChildChange(order: "m"))))
    host.answer("/state/m.space.child/", #"{"via":["u"],"suggested":true,"x.y":[1]}"#)
    body = host.body("/state/m.space.child/")
    #expect(body?["via"]?.elements.map { $0.string ?? "" } == ["u"])
    #expect(body?["order"]?.string == "m")
    #expect(body?["suggested"]?.bool == true)
    #expect(body?["x.y"]?.count == 1)
    host.answer("/state/m.space.child/", #"{"event_id":"$y"}"#)
    host.command(.spaces(.setChild(Self.id("!a:t"), in: space, SpaceChildChange(order: "é"))))
    #expect(host.result() == "invalidContent")
    host.command(.spaces(.removeChild(Self.id("!a:t"), from: space)))
    #expect(host.request("/state/m.space.child/")?.request.body == Array("{}".utf8))
  }

  @Test func `who may not put rooms into a space is told so without a request`() {
    let created = Wire.event("m.room.create", "$c", by: "@boss:t", #"{"type":"m.space"}"#, stateKey: "")
    var space = WireRoom("!s:t")
    space.state = [created, Self.power]
    var host = Self.host([space, WireRoom("!a:t")])
    host.command(.spaces(.setChild(Self.id("!a:t"), in: Self.id("!s:t"), SpaceChildChange())))
    #expect(host.result() == "notAllowed")
    host.command(.spaces(.removeChild(Self.id("!a:t"), from: Self.id("!s:t"))))
    #expect(host.result() == "notAllowed")
    host.command(.spaces(.setChild(Self.id("!a:t"), in: Self.id("!none:t"), SpaceChildChange())))
    #expect(host.result() == "unknownRoom")
    #expect(host.request("/state/") == nil)
  }

  @Test func `a room says that it is in a space, and no more`() {
    var host = Self.host([Self.space("!s:t", []), WireRoom("!a:t")])
    host.command(.spaces(.setParent(Self.id("!a:t"), of: Self.id("!s:t"), isCanonical: true)))
    #expect(host.request("/state/")?.request.target.hasSuffix("/rooms/%21a%3At/state/m.space.parent/%21s%3At") == true)
    #expect(host.body("/state/")?["canonical"]?.bool == true)
    host.answer("/state/", #"{"event_id":"$x"}"#)
    host.command(.spaces(.removeParent(Self.id("!a:t"), of: Self.id("!s:t"))))
    #expect(host.request("/state/")?.request.body == Array("{}".utf8))
  }

  @Test func `a space is a room of that type in which nobody talks`() {
    var host = Host.signedIn()
    host.sync()
    host.command(.rooms(.create(.space(preset: .publicChat, name: "All of us"))))
    let body = host.body("/createRoom")
    #expect(body?["creation_content"]?["type"]?.string == "m.space")
    #expect(body?["power_level_content_override"]?["events_default"]?.integer == 100)
    #expect(body?["name"]?.string == "All of us")
    #expect(body?["preset"]?.string == "public_chat")
  }

  // MARK: Order

  @Test(
    arguments: [
      (nil, nil, 1), (nil, nil, 94), (nil, nil, 1000), ("a", "b", 1), ("a", "b", 200), ("a", nil, 3), (nil, "b", 3),
      ("a", "a ", 0), ("a", "a!", 1), ("a", "a  !", 5), ("~~~", nil, 7), (nil, "!", 3), ("", "!", 2)
    ] as [(String?, String?, Int)])
  func `between two orders there are others`(low: String?, high: String?, count: Int) throws {
    let lower = low.map { ByteString($0) }
    let upper = high.map { ByteString($0) }
    let found = try #require(SpaceOrder.between(lower, upper, count: count))
    #expect(found.count == count)
    let all = [lower].compactMap { $0 } + found + [upper].compactMap { $0 }
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    #expect(found.allSatisfy { SpaceOrder.isValid($0) && !$0.isEmpty })
  }

  @Test func `there is no order between adjacent orders`() {
    #expect(SpaceOrder.between("b", "a", count: 1) == nil)
    #expect(SpaceOrder.between("a", "a", count: 1) == nil)
    #expect(SpaceOrder.between("a", "a ", count: 1) == nil)
    let long = String(repeating: "a", count: 49)
    #expect(SpaceOrder.between(ByteString(long + "a"), ByteString(long + "b"), count: 1) == nil)
    #expect(SpaceOrder.between(ByteString(long + "a"), ByteString(long + "c"), count: 1) == [ByteString(long + "b")])
  }

  @Test(
    arguments: [
      ([nil, nil, nil, nil], 3, 0, 1), ([nil, nil, nil, nil], 0, 3, 4), (["a", "b", "c", "d"], 3, 1, 1),
      (["a", "b", nil, nil], 3, 1, 1), (["a", "b", nil, nil], 0, 3, 3), (["a", "b", nil, nil], 1, 0, 1),
      (["a", "a", "a", "a"], 3, 1, 4), (["a", "b", "c", "d"], 2, 2, 0), (["a", "b", "c", "d"], 0, 99, 1)
    ] as [([String?], Int, Int, Int)])
  func `a child is moved by as few orders as it takes`(orders: [String?], from: Int, to: Int, count: Int) {
    let ids = ["!a:t", "!b:t", "!c:t", "!d:t"]
    let children = zip(ids, orders).enumerated().map { i, child in
      Self.child(child.0, order: child.1.map { "\"\($0)\"" }, time: i)
    }
    var host = Self.host([Self.space("!s:t", children)])
    let space = Self.id("!s:t")
    let changes = host.client.spaceOrders(toMove: Self.id(ids[from]), to: to, in: space)
    #expect(changes.count == count)
    host.sync(
      WireRoom.join([
        Self.space(
          "!s:t",
          changes.map {
            Self.child($0.child.string, order: String(decoding: JSONWriter.text($0.order), as: UTF8.self), time: 9)
          })
      ]))
    var expected = ids
    expected.insert(expected.remove(at: from), at: min(to, 3))
    #expect(Self.texts(host.client.spaces.children(of: space)) == expected)
  }
}

extension JSONWriter {
  fileprivate static func text(_ text: ByteString) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(text)
    return writer.bytes
  }
}
