import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Answers that no honest server gives: nothing is lost by them, nothing stands twice, nothing grows without bound.
@Suite struct HostileSyncTests {
  private static let ways = [SyncMode.v3, .sliding]
  private static let messages = ["one", "two", "three", "four"].enumerated().map { Wire.message($1, "$\($0 + 1)") }

  /// A room with the first message, open.
  private static func inRoom(_ way: SyncMode, state: [String] = []) -> Host {
    var host = Host.signedIn(mode: way)
    tell([messages[0]], state: Wire.members + state, isFirst: true, to: &host)
    host.command(.timeline(.openRoom(.test)))
    if way == .sliding { host.slide() }
    return host
  }

  private static func tell(
    _ events: [String], state: [String] = [], limited: Bool = false, token: String? = "t0", isFirst: Bool = false,
    to host: inout Host
  ) {
    switch host.client.syncLoop.position.kind {
    case .v3:
      host.sync(Wire.join(events, state: state, limited: limited, token: token, extra: isFirst ? Wire.counts : ""))
    case .sliding:
      host.slide([
        Sliding.room(
          "!room:test", events, initial: isFirst, state: state, limited: limited, token: token,
          extra: isFirst ? Sliding.counts : "")
      ])
    }
  }

  private func offline(_ host: Host) -> [String] {
    var host = host.restarted()
    host.command(.timeline(.openRoom(.test)))
    return host.texts()
  }

  // MARK: Events

  @Test(arguments: ways) func `an event that stands twice in an answer is shown, stored and counted once`(way: SyncMode) {
    var host = Self.inRoom(way, state: UnreadTests.encrypted)
    let unread = host.client.room(.test)?.notificationCount ?? 0
    Self.tell([Self.messages[1], Self.messages[1], Self.messages[2], Self.messages[1]], to: &host)
    #expect(host.texts() == ["one", "two", "three"])
    #expect(offline(host) == ["one", "two", "three"])
    #expect(host.client.room(.test)?.state.history.events == 3)
    #expect(host.client.room(.test)?.notificationCount == unread + 2)
  }

  @Test(arguments: ways, [false, true]) func `an answer that repeats the last ones adds what is new`(
    way: SyncMode, limited: Bool
  ) {
    var host = Self.inRoom(way, state: UnreadTests.encrypted)
    Self.tell([Self.messages[1]], to: &host)
    Self.tell(Array(Self.messages.prefix(3)), limited: limited, to: &host)
    #expect(host.texts() == ["one", "two", "three"])
    #expect(offline(host) == ["one", "two", "three"])
    #expect(host.client.room(.test)?.state.history.events == 3)
    #expect(host.client.room(.test)?.notificationCount == 3)
  }

  @Test(arguments: ways) func `a position that goes back brings nothing twice`(way: SyncMode) {
    var host = Self.inRoom(way)
    Self.tell([Self.messages[1]], to: &host)
    Self.tell([Self.messages[2]], to: &host)
    let sent = host.batch
    host.batch -= 2
    for message in Self.messages { Self.tell([message], to: &host) }
    #expect(host.batch > sent)
    #expect(host.texts() == ["one", "two", "three", "four"])
    #expect(Set(offline(host)) == ["one", "two", "three", "four"] && offline(host).count == 4)
  }

  @Test(arguments: ways) func `a known event behind new ones hides none of them`(way: SyncMode) {
    var host = Self.inRoom(way)
    Self.tell([Self.messages[0], Self.messages[1], Self.messages[0]], to: &host)
    #expect(host.texts() == ["one", "two"])
    #expect(offline(host) == ["one", "two"])
    Self.tell([Self.messages[2]], to: &host)
    #expect(offline(host) == ["one", "two", "three"])
  }

  @Test func `the same event in two rooms is one of each`() {
    var host = Host.signedIn()
    let other = RoomID(trusted: "!other:test")
    let rooms = ["!room:test", "!other:test"].map { Wire.joined([Self.messages[0]], state: Wire.members, room: $0) }
    host.sync(#""join":{\#(rooms.joined(separator: ","))}"#)
    for room in [RoomID.test, other] {
      host.command(.timeline(.openRoom(room)))
      #expect(host.texts(room) == ["one"])
    }
  }

  // MARK: Gaps

  @Test(arguments: ways) func `a gap is one even where the server does not say how to fill it`(way: SyncMode) {
    var host = Self.inRoom(way)
    Self.tell([Self.messages[3]], limited: true, token: nil, to: &host)
    #expect(host.texts() == ["one", "[gap]", "four"])
    #expect(offline(host) == ["one", "[gap]", "four"])
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    #expect(host.request("/messages")?.request.target.contains("from=") == false)
    let page = Self.messages.reversed().joined(separator: ",")
    host.answer("/messages", #"{"start":"x","end":"y","chunk":[\#(page)]}"#)
    #expect(host.texts() == ["one", "two", "three", "four"])
    #expect(offline(host) == ["one", "two", "three", "four"])
  }

  @Test(arguments: ways) func `a first timeline that is limited without a token can be paged`(way: SyncMode) {
    var host = Host.signedIn(mode: way)
    Self.tell([Self.messages[3]], state: Wire.members, limited: true, token: nil, isFirst: true, to: &host)
    host.command(.timeline(.openRoom(.test)))
    host.command(.timeline(.paginateBack(.test)))
    #expect(host.request("/messages")?.request.target.contains("from=") == false)
    host.answer("/messages", #"{"start":"x","chunk":[\#(Self.messages.reversed().joined(separator: ","))]}"#)
    #expect(host.texts() == ["one", "two", "three", "four"])
    #expect(offline(host) == ["one", "two", "three", "four"])
  }

  @Test(arguments: ways) func `gaps without any event between them are filled once each`(way: SyncMode) {
    var host = Self.inRoom(way)
    for _ in 0..<3 { Self.tell([], limited: true, token: "g", to: &host) }
    Self.tell([Self.messages[3]], limited: true, token: "g", to: &host)
    for _ in 0..<8 {
      guard let gap = host.items().first(where: { if case .gap = $0.content { true } else { false } }) else { break }
      host.command(.timeline(.fillGap(.test, gap.id)))
      host.answer("/messages", #"{"start":"g","chunk":[\#(Self.messages.prefix(3).reversed().joined(separator: ","))]}"#)
    }
    #expect(host.texts() == ["one", "two", "three", "four"])
    #expect(offline(host).filter { $0 != "[gap]" } == ["one", "two", "three", "four"])
  }

  @Test func `pages of a room that was told without any event are stored`() {
    var host = Host.signedIn()
    host.sync()
    host.command(.timeline(.openRoom(.test)))
    host.sync(#""leave":{"# + Wire.joined([], room: "!room:test") + "}")
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", #"{"start":"x","chunk":[\#(Self.messages.prefix(2).reversed().joined(separator: ","))]}"#)
    #expect(host.texts() == ["one", "two"])
    #expect(offline(host) == ["one", "two"])
    host.sync(
      Wire.join([Self.messages[1], Self.messages[2]], state: Wire.members, limited: true, token: "t1", extra: Wire.counts))
    #expect(host.texts() == ["one", "two", "three"])
    #expect(offline(host) == ["one", "two", "three"])
  }

  // MARK: Rooms

  @Test func `a room that an answer tells twice is told once`() {
    var host = Self.inRoom(.sliding)
    host.slide([Sliding.room("!room:test", [Self.messages[1]]), Sliding.room("!room:test", [Self.messages[2]])])
    #expect(host.texts() == ["one", "two"])
    host = Self.inRoom(.v3)
    let room = Wire.joined([Self.messages[1]], room: "!room:test")
    host.sync(#""join":{\#(room),\#(room)},"leave":{\#(room)},"invite":{\#(room)}"#)
    #expect(host.texts() == ["one", "two"])
    #expect(host.client.room(.test)?.membership == .join)
  }

  @Test func `the own membership goes to and fro and the timeline with it`() {
    var host = Host.sliding([Sliding.invite("!room:test")])
    #expect(host.client.room(.test)?.membership == .invite)
    host.slide([Sliding.first([Self.messages[0]])])
    host.command(.timeline(.openRoom(.test)))
    host.slide()
    for (i, event) in ["$l1", "$l2"].enumerated() {
      host.slide([Sliding.room("!room:test", state: [Wire.member("@me:test", "leave", event)])])
      #expect(host.client.room(.test)?.membership == .leave)
      #expect(host.client.roomIDs.isEmpty)
      host.slide([Sliding.invite("!room:test")])
      #expect(host.client.room(.test)?.membership == .invite)
      host.slide([Sliding.first(Array(Self.messages.prefix(i + 2)))])
      #expect(host.client.room(.test)?.membership == .join)
      #expect(host.texts() == Array(["one", "two", "three"].prefix(i + 2)))
    }
    #expect(offline(host) == ["one", "two", "three"])
  }

  @Test func `of rooms that only an extension names nothing is made`() {
    var host = Self.inRoom(.sliding)
    host.slide(
      [],
      extensions:
        #""typing":{"rooms":{"!x:test":{"type":"m.typing","content":{"user_ids":["@a:test"]}}}},"account_data":{"rooms":{"!y:test":[]}},"#
        + #""receipts":{"rooms":{"!z:test":{"type":"m.receipt","content":{}}}}"#)
    #expect(host.client.rooms.count == 1)
  }

  /// The list claims two rooms and sends one.
  @Test func `rooms that the list counts and the answer leaves out are not gone`() {
    var host = Host.sliding([Sliding.first("!a:test", []), Sliding.first("!b:test", [])])
    host.answer(Sliding.path, status: 400, #"{"errcode":"M_UNKNOWN_POS","error":""}"#)
    host.slide([Sliding.first("!a:test", [])], count: 2)
    #expect(host.client.roomIDs.count == 2)
    #expect(isRunning(host))
    // As opposed to those that it does not count.
    host.answer(Sliding.path, status: 400, #"{"errcode":"M_UNKNOWN_POS","error":""}"#)
    host.wait(31_000)
    host.slide([Sliding.first("!a:test", [])], count: 1)
    #expect(host.client.roomIDs.map { $0.string } == ["!a:test"])
  }

  @Test func `however many rooms a server counts, no more than a bounded number is asked for`() {
    var host = Host.signedIn(mode: .sliding)
    var ends: [Int64] = []
    for _ in 0..<2_100 {
      guard let end = host.slidingEnd else { break }
      ends.append(end)
      if host.slidingTarget?.contains("timeout=30000") == true { break }
      host.slide([], count: 9_000_000_000)
    }
    #expect(ends == ends.sorted() && ends.last == Int64(Limits.listedRooms - 1))
    #expect(zip(ends, ends.dropFirst()).allSatisfy { $1 - $0 <= Int64(Limits.furtherRooms) })
    #expect(isRunning(host))
  }

  @Test func `heroes have a bound`() {
    let users = (0..<500).map { "@u\($0):test" }
    var host = Host.sliding([
      Sliding.room(
        initial: true, state: [Wire.member("@me:test")],
        extra: #","joined_count":501,"heroes":[\#(users.map { #"{"user_id":"\#($0)"}"# }.joined(separator: ","))]"#)
    ])
    #expect(host.client.room(.test)?.state.heroes.count == Limits.heroes)
    host = Host.signedIn()
    let listed = users.map { #""\#($0)""# }.joined(separator: ",")
    host.sync(Wire.join(extra: #","summary":{"m.joined_member_count":501,"m.heroes":[\#(listed)]}"#))
    #expect(host.client.room(.test)?.state.heroes.count == Limits.heroes)
  }

  @Test(arguments: 0..<30) func `rooms without a message stand under those with a higher stamp`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed))
    var rooms: [(id: String, stamp: Int, time: Int, hasMessage: Bool)] = []
    for i in 0..<30 {
      let time = 1_700_000_000_000 + Int(random.next(below: 1_000))
      rooms.append(("!r\(i):test", 1 + Int(random.next(below: 20)), time, random.next(below: 2) == 0))
    }
    let host = Host.sliding(
      rooms.map { room in
        let topic = Wire.event("m.room.topic", "$t", time: room.time, #"{"topic":"x"}"#, stateKey: "")
        return Sliding.named(
          room.id, "R", [room.hasMessage ? Wire.message("x", "$x", time: room.time) : topic],
          extra: #","bump_stamp":\#(room.stamp)"#)
      })
    for room in rooms where !room.hasMessage {
      let bound = rooms.filter { $0.hasMessage && $0.stamp > room.stamp }.map { $0.time - 1 }.min() ?? .max
      let activity = host.client.room(RoomID(trusted: ByteString(room.id)))?.state.lastActivity
      #expect(activity == Int64(min(room.time, bound)))
    }
  }

  // MARK: Shapes

  private static let shapes = [
    "null", "[]", "1", #""x""#, "{}", #"{"!room:test":1}"#, #"{"!room:test":[]}"#, #"{"!room:test":null}"#, #"{"x":{}}"#,
    #"{"!room:test":{"timeline":1,"state":1,"required_state":1,"heroes":{},"limited":"yes","prev_batch":1,"num_live":-1}}"#,
    #"{"!room:test":{"timeline":{"events":{},"limited":1,"prev_batch":[]},"state":{"events":1},"ephemeral":1,"summary":[]}}"#,
    #"{"!room:test":{"timeline":[1,null,"x",{},[]],"required_state":[1,null,{}],"bump_stamp":-9223372036854775808}}"#,
    #"{"!room:test":{"timeline":[{"event_id":"$1"}],"num_live":99999999999999999999,"joined_count":-1,"notification_count":1e300}}"#
  ]

  @Test(arguments: shapes) func `whatever stands where the rooms should, the room stays as it is`(shape: String) {
    var host = Self.inRoom(.v3)
    host.answer("/sync?", #"{"next_batch":"s9","rooms":{"join":\#(shape),"invite":{"x":1}},"account_data":\#(shape)}"#)
    host.wait(40_000)
    Self.tell([Self.messages[1]], to: &host)
    #expect(host.texts() == ["one", "two"])
    host = Self.inRoom(.sliding)
    host.answer(
      Sliding.path,
      #"{"pos":"p9","lists":{"all":{"count":1,"ops":[{"op":"DELETE","index":-7},{"op":"INSERT","index":9e99}]}},"rooms":\#(shape),"#
        + #""extensions":{"receipts":{"rooms":\#(shape)},"typing":{"rooms":\#(shape)},"account_data":{"rooms":\#(shape),"global":\#(shape)}}}"#
    )
    host.wait(40_000)
    Self.tell([Self.messages[1]], to: &host)
    #expect(host.texts() == ["one", "two"])
    #expect(offline(host) == ["one", "two"])
  }

  @Test(arguments: [
    #"{}"#, #"{"pos":""}"#, #"{"pos":1,"lists":{"all":{"count":1}}}"#, #"{"pos":"p","lists":{}}"#,
    #"{"pos":"p","lists":{"all":{"count":-1}}}"#, #"{"pos":"p","lists":{"all":{"count":"1"}}}"#, #"{"pos":"p","lists":[]}"#,
    "[]", "null"
  ]) func `an answer without a position or a count is invalid, and the position is kept`(answer: String) {
    var host = Self.inRoom(.sliding)
    let position = host.slidingTarget
    host.answer(Sliding.path, answer)
    #expect(isReconnecting(host))
    host.wait(1_000)
    #expect(host.slidingTarget?.suffix(4) == position?.suffix(4))
    #expect(host.texts() == ["one"])
  }
}
