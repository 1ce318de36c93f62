import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SlidingSyncTests {
  // MARK: Which kind

  @Test func `sliding sync is chosen where the server offers it`() {
    var host = Host.signedIn(mode: .automatic)
    #expect(host.request("sync?") == nil)
    #expect(host.request("/versions")?.request.accessToken == "T")
    host.answer("/versions", #"{"versions":["v1.11"],"unstable_features":{"org.matrix.simplified_msc3575":true}}"#)
    #expect(host.slidingTarget == "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync?timeout=0")
  }

  @Test(arguments: [#"{"versions":["v1.11"]}"#, "{}", "[]"]) func `v3 is chosen where it is not offered`(versions: String) {
    var host = Host.signedIn(mode: .automatic)
    host.answer("/versions", versions)
    #expect(host.request("/v3/sync?") != nil)
    host.sync()
    #expect(host.request("since=s1") != nil)
  }

  @Test func `a server that does not answer is asked again what it offers`() {
    var host = Host.signedIn(mode: .automatic)
    host.respond("/versions", .networkError)
    #expect(isReconnecting(host))
    host.wait(1_000)
    #expect(host.request("/versions") != nil)
  }

  @Test func `an account goes on as it began, without asking`() {
    var host = Host.sliding([Sliding.first([Wire.message("one", "$1")])])
    host = host.restarted(mode: .automatic)
    #expect(host.slidingTarget?.hasSuffix("timeout=0&pos=p1") == true)
  }

  @Test func `an offer that is taken back ends in v3, and nothing is lost`() {
    var host = Host.signedIn(mode: .automatic)
    host.answer("/versions", #"{"versions":[],"unstable_features":{"org.matrix.simplified_msc3575":true}}"#)
    host.slide([Sliding.first([Wire.message("one", "$1")])])
    host.command(.timeline(.openRoom(.test)))
    host.answer(Sliding.path, status: 404, #"{"errcode":"M_UNRECOGNIZED","error":""}"#)
    #expect(host.request("/v3/sync?")?.request.target.contains("since=") == false)
    host.sync(Wire.join([Wire.message("one", "$1"), Wire.message("two", "$2")], state: Wire.members, extra: Wire.counts))
    #expect(host.texts() == ["one", "two"])
  }

  @Test func `who wants sliding sync alone waits for it`() {
    var host = Host.signedIn(mode: .sliding)
    host.answer(Sliding.path, status: 404, #"{"errcode":"M_UNRECOGNIZED","error":""}"#)
    #expect(isReconnecting(host))
    #expect(host.waiting.allSatisfy { !$0.request.target.contains("sync") })
  }

  // MARK: The list

  // Proves W36
  @Test func `the rooms on top are shown before the others are asked for, and progress never goes back`() {
    var host = Host.signedIn(mode: .sliding)
    #expect(host.slidingEnd == 19)
    #expect(host.slidingTarget?.contains("pos=") == false)
    let rooms = (0..<700).map { n in
      Sliding.named("!r\(n):test", "Room \(n)", [Wire.message("x", "$\(n)", time: 1_700_000_000_000 - n)])
    }
    var fractions: [Double] = []
    var told = 0
    for (end, shown) in [(19, 20), (79, 80), (319, 320), (819, 700)] {
      #expect(host.slidingEnd == Int64(end))
      #expect(host.slidingTarget?.contains("timeout=0") == true)
      host.slide(Array(rooms[told..<shown]), count: 700)
      told = shown
      #expect(host.client.roomIDs.count == shown)
      fractions.append(host.client.syncProgress.fraction)
      if shown == 700 {
        #expect(isRunning(host))
      } else {
        guard case .firstSync(let progress) = host.client.connection else { return #expect(Bool(false), "not the first sync") }
        #expect(progress.knownRooms == shown)
        #expect(progress.totalRooms == 700)
      }
    }
    #expect(fractions == fractions.sorted() && fractions.last == 1)
    #expect(host.slidingEnd == 999_999)
    #expect(host.slidingTarget?.contains("timeout=30000") == true)
    #expect(host.client.roomIDs.map { $0.string } == (0..<700).map { "!r\($0):test" })
  }

  @Test func `a first sync that was killed goes on, and is over with the last room`() {
    var host = Host.signedIn(mode: .sliding)
    host.slide((0..<20).map { Sliding.named("!r\($0):test", "R") }, count: 21)
    host = host.restarted()
    #expect(host.client.roomIDs.count == 20)
    host.slide([], count: 21)
    guard case .firstSync = host.client.connection else { return #expect(Bool(false), "not the first sync") }
    host.slide([Sliding.named("!r20:test", "R")], count: 21)
    #expect(isRunning(host))
    #expect(host.client.roomIDs.count == 21)
    host = host.restarted()
    host.slide([], count: 21)
    #expect(isRunning(host))
  }

  @Test func `rooms without a message in what was told stand where the server has them`() {
    let topic = Wire.event("m.room.topic", "$t", time: 1_700_000_009_000, #"{"topic":"x"}"#, stateKey: "")
    let host = Host.sliding([
      Sliding.named("!a:test", "A", [Wire.message("a", "$a", time: 1_700_000_003_000)], extra: #","bump_stamp":30"#),
      Sliding.named("!b:test", "B", [topic], extra: #","bump_stamp":20"#),
      Sliding.named("!c:test", "C", [Wire.message("c", "$c", time: 1_700_000_001_000)], extra: #","bump_stamp":10"#)
    ])
    #expect(host.client.roomIDs.map { $0.string } == ["!a:test", "!b:test", "!c:test"])
    #expect(host.restarted().client.roomIDs == host.client.roomIDs)
  }

  // MARK: Rooms

  @Test func `a room has its name, its counts and its messages`() {
    var host = Host.sliding([
      Sliding.room(
        "!room:test", [Wire.message("one", "$1")], initial: true, state: [Wire.member("@me:test", name: "Me")],
        extra: Sliding.counts)
    ])
    let room = host.client.room(.test)
    #expect(room?.membership == .join)
    #expect(room?.name.english == "Alice and Bob")
    #expect(room?.joinedMemberCount == 3)
    #expect(room?.preview?.content?.body == "one")
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["one"])
    let next = host.restarted()
    #expect(next.client.room(.test)?.name.english == "Alice and Bob")
  }

  @Test func `heroes alone give the name of a room where nobody else is left`() {
    let host = Host.sliding([
      Sliding.room(
        initial: true, state: [Wire.member("@me:test")],
        extra: #","joined_count":1,"invited_count":0,"heroes":[{"user_id":"@alice:test","displayname":"Alice"}]"#)
    ])
    #expect(host.client.room(.test)?.name.english == "Empty room (was Alice)")
  }

  @Test func `what is new comes behind what is there, and counts follow`() {
    var host = Host.slidingInRoom()
    host.slide([
      Sliding.room("!room:test", [Wire.message("two", "$2")]).replacing(
        "\"notification_count\":0", with: "\"notification_count\":4")
    ])
    #expect(host.texts() == ["one", "two"])
    #expect(host.client.room(.test)?.notificationCount == 4)
    #expect(host.client.room(.test)?.joinedMemberCount == 3)
  }

  @Test func `a limited timeline is a gap, and it is filled on demand`() {
    var host = Host.slidingInRoom()
    host.slide([Sliding.room("!room:test", [Wire.message("four", "$4")], limited: true, token: "t4")])
    #expect(host.texts() == ["one", "[gap]", "four"])
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    #expect(host.request("/messages")?.request.target.contains("from=t4") == true)
    host.answer(
      "/messages",
      #"{"chunk":[\#([("three", "$3"), ("two", "$2"), ("one", "$1")].map { Wire.message($0, $1) }.joined(separator: ","))]}"#)
    #expect(host.texts() == ["one", "two", "three", "four"])
  }

  @Test func `an invitation shows the room's name and who invited`() {
    var host = Host.sliding([Sliding.invite("!tea:test")])
    let tea = RoomID(trusted: "!tea:test")
    #expect(host.client.room(tea)?.membership == .invite)
    #expect(host.client.room(tea)?.name.english == "Tea")
    #expect(host.client.room(tea)?.inviter == UserID(trusted: "@alice:test"))
    host.slide([Sliding.named("!tea:test", "Tea", [Wire.member("@me:test")])])
    #expect(host.client.room(tea)?.membership == .join)
    #expect(host.client.room(tea)?.isDirect == false)
  }

  @Test(arguments: [("leave", "@me:test"), ("leave", "@alice:test"), ("ban", "@alice:test")])
  func `who leaves or is made to sees the room no more`(membership: String, sender: String) {
    var host = Host.slidingInRoom()
    let own = Wire.event("m.room.member", "$l", by: sender, #"{"membership":"\#(membership)"}"#, stateKey: "@me:test")
    host.slide([Sliding.room("!room:test", [own])])
    #expect(host.client.roomIDs.isEmpty)
    #expect(host.client.room(.test)?.membership.name.description == membership)
  }

  @Test func `what the server says of the membership counts`() {
    var host = Host.slidingInRoom()
    host.slide([#""!room:test":{"membership":"leave"}"#, #""!k:test":{"membership":"knock","initial":true,"invite_state":[]}"#])
    #expect(host.client.room(.test)?.membership == .leave)
    #expect(host.client.room(RoomID(trusted: "!k:test"))?.membership == .knock)
  }

  @Test func `extensions bring receipts, typing, account data and where messages to the device go on`() {
    var host = Host.slidingInRoom()
    host.slide(
      [],
      extensions: #""to_device":{"next_batch":"d7","events":[]},"#
        + #""receipts":{"rooms":{"!room:test":{"type":"m.receipt","content":{"$1":{"m.read":{"@bob:test":{"ts":1}}}}}}},"#
        + #""typing":{"rooms":{"!room:test":{"type":"m.typing","content":{"user_ids":["@bob:test","@me:test"]}},"!unknown:test":{"type":"m.typing","content":{"user_ids":["@bob:test"]}}}},"#
        + #""account_data":{"global":[{"type":"m.direct","content":{"@bob:test":["!room:test"]}}],"rooms":{"!room:test":[{"type":"m.fully_read","content":{"event_id":"$1"}}]}}"#
    )
    let room = host.client.room(.test)
    #expect(room?.typing.map { $0.string } == ["@bob:test"])
    #expect(room?.fullyRead?.string == "$1")
    #expect(room?.directUserID?.string == "@bob:test")
    #expect(host.client.unreadMemberCount(.test, itemAt: 0) == 1)
    #expect(host.client.rooms.count == 1)
    #expect(host.slidingBody?["extensions"]?["to_device"]?["since"]?.string == "d7")
    #expect(host.restarted().slidingBody?["extensions"]?["to_device"]?["since"]?.string == "d7")
  }

  @Test func `a room that becomes direct with news of its own says so`() {
    var host = Host.slidingInRoom()
    host.changes = []
    host.slide(
      [Sliding.room(extra: #","is_dm":true"#)],
      extensions: #""account_data":{"global":[{"type":"m.direct","content":{"@bob:test":["!room:test"]}}],"rooms":{}}"#)
    #expect(host.client.room(.test)?.directUserID?.string == "@bob:test")
    #expect(
      host.changes.contains { change in
        if case .room(.test, let aspects) = change { aspects.contains(.settings) } else { false }
      })
  }

  @Test func `how many events are live is known`() {
    var host = Host.sliding()
    host.writesAtOnce = false
    let events = [Wire.message("one", "$1"), Wire.message("two", "$2")]
    host.slide([
      Sliding.first("!a:test", events).replacing("\"num_live\":0", with: "\"num_live\":1"), Sliding.first("!b:test", events)
    ])
    #expect(host.client.syncLoop.prepared?.rooms.map { $0.liveCount } == [1, 0])
  }

  @Test func `the position is stored together with what it brought`() {
    var host = Host.slidingInRoom()
    host.writesAtOnce = false
    host.slide([Sliding.room("!room:test", [Wire.message("two", "$2")])])
    #expect(host.unwritten.count == 1)
    #expect(host.texts() == ["one"])
    #expect(host.restarted().client.syncLoop.position.token == "p2")
    host.finishWrites()
    #expect(host.texts() == ["one", "two"])
    #expect(host.restarted().client.syncLoop.position.token == "p3")
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"pos":"p"}"#, #"{"pos":1,"lists":{"all":{"count":1}}}"#, #"{"pos":"p","lists":{"all":{"count":-1}}}"#,
    "not json"
  ]) func `an answer that is no sync is a failure`(body: String) {
    var host = Host.slidingInRoom()
    host.answer(Sliding.path, body)
    #expect(isReconnecting(host))
    #expect(host.client.syncLoop.position.token == "p2")
  }
}

func isRunning(_ host: Host) -> Bool { if case .running = host.client.connection { true } else { false } }
func isReconnecting(_ host: Host) -> Bool { if case .reconnecting = host.client.connection { true } else { false } }

extension String {
  func replacing(_ part: String, with other: String) -> String {
    guard let range = firstRange(of: part) else { return self }
    return self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}

extension Sliding {
  static func first(_ events: [String], limited: Bool = false) -> String { first("!room:test", events, limited: limited) }
}
