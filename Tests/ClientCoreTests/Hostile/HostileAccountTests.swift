import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Account data, answers and state of shapes and sizes that nobody needs.
@Suite struct HostileAccountTests {
  private static let bob = UserID(trusted: "@bob:test")

  private static func data(_ type: String, _ content: String) -> String {
    #","account_data":{"events":[{"type":"\#(type)","content":\#(content)}]}"#
  }

  // MARK: Queries

  @Test(arguments: [Int64.max, 1_000_000_000_000_000_000]) func `a wait without end ends the query, also behind a short one`(
    milliseconds: Int64
  ) {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":100}"#)
    host.wait(200)
    host.answer("/devices", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":\#(milliseconds)}"#)
    guard case .refused(429, .limitExceeded, _, milliseconds)? = QueryTests.error(host) else {
      return #expect(Bool(false), "\(host.ended)")
    }
  }

  @Test(arguments: ["/sync?", "/send/", "/read_markers", "/messages"]) func `a wait without end is followed for a bounded time`(
    part: String
  ) {
    var host = Host.inRoom([Wire.message("one", "$1"), Wire.message("two", "$2")])
    host.command(.sending(.send(.test, .text("x"))))
    host.command(.timeline(.paginateBack(.test)))
    host.handle(.attentionChanged(isVisible: true, isFocused: true))
    if let item = host.items().last { host.command(.reading(.viewed(.test, upTo: item.id))) }
    guard host.request(part) != nil else { return #expect(part != "/sync?" && part != "/send/") }
    for _ in 0..<3 {
      host.answer(part, status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":9223372036854775807}"#)
      host.wait(Limits.retryAfterMilliseconds + 1_000)
      #expect(host.request(part) != nil)
    }
  }

  // MARK: Account data

  private static let shapes = [
    "null", "[]", "1", #""x""#, "true", "{}", #"{"@a:test":1}"#, #"{"@a:test":{}}"#, #"{"@a:test":[1,null,{},"x"]}"#,
    #"{"ignored_users":[]}"#, #"{"ignored_users":{"x":1,"@a:test":null}}"#, #"{"recent_rooms":{}}"#,
    #"{"recent_rooms":[1,null]}"#,
    #"{"global":[]}"#, #"{"global":{"override":{},"content":[1,{"rule_id":1}]}}"#,
    #"{"global":{"content":[{"rule_id":"x","pattern":1,"actions":{},"enabled":"yes"}]}}"#
  ]

  @Test(
    arguments: ["m.direct", "m.ignored_user_list", "m.push_rules", "im.vector.setting.breadcrumbs", "m.tag", "m.fully_read"],
    shapes)
  func `account data of any shape changes nothing else, now and from the store`(type: String, shape: String) {
    var host = Host.inRoom()
    host.sync(extra: Self.data(type, shape))
    let inRoom = #","account_data":{"events":[{"type":"\#(type)","content":\#(shape)}]}"#
    host.sync(Wire.join([Wire.message("two", "$2")], extra: inRoom))
    #expect(host.texts() == ["one", "two"])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "two"])
    #expect(next.client.sessionState == .signedIn)
  }

  @Test func `a million rooms of one user are read once`() {
    var host = Host.inRoom()
    let rooms = (0..<200_000).map { #""!\#($0):test""# }.joined(separator: ",")
    // Twice: what one user has is no more known than what another has.
    host.sync(extra: Self.data("m.direct", #"{"@alice:test":[\#(rooms)],"@bob:test":[\#(rooms),"!room:test","!room:test"]}"#))
    #expect(host.client.room(.test)?.directUserID == Self.bob)
    #expect(host.client.directRooms.rooms(with: Self.bob).count == 200_001)
  }

  // MARK: Rooms

  @Test(arguments: [Limits.typingUsers, Limits.typingUsers + 1, 20_000]) func `who writes has a bound`(count: Int) {
    var host = Host.inRoom()
    let users = (0..<count).map { #""@u\#($0):test""# }.joined(separator: ",")
    host.sync(
      Wire.join(extra: #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":[\#(users)]}}]}"#))
    #expect(host.client.room(.test)?.typing.count == min(count, Limits.typingUsers))
  }

  @Test(arguments: [Limits.reactionBytes, Limits.reactionBytes + 1]) func `a reaction has a bound`(bytes: Int) {
    var host = Host.inRoom()
    let key = String(repeating: "r", count: bytes)
    host.sync(
      Wire.join([
        Wire.event(
          "m.reaction", "$2", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"\#(key)"}}"#)
      ]))
    #expect(host.items().first?.reactions.count == (bytes > Limits.reactionBytes ? 0 : 1))
  }

  private static let levels = [
    "null", "[]", #""100""#, "1e300", "9223372036854775807", "-9223372036854775808", "9007199254740993", "{}", "1.5", "true",
    #""  +0000100 ""#, #""١٠٠""#, #""9999999999999999999""#
  ]

  @Test(arguments: levels) func `power levels of any number`(level: String) {
    let content =
      #"{"users":{"@me:test":\#(level),"@bob:test":50},"users_default":\#(level),"ban":\#(level),"events":{"m.room.message":\#(level),"m.room.name":\#(level)},"state_default":\#(level),"notifications":{"room":\#(level)}}"#
    var host = Host.signedIn()
    host.sync(
      Wire.join(
        [Wire.message("one", "$1"), Wire.event("m.room.power_levels", "$p", content, stateKey: "")],
        state: Wire.members + [Wire.event("m.room.create", "$c", #"{"room_version":"10"}"#, stateKey: "")], extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts().first == "one")
    for command: Command in [
      .people(.setPowerLevel(.test, of: Self.bob, to: .max)), .sending(.pin(.test, EventID(trusted: "$1"))),
      .rooms(.setName(.test, "x"))
    ] {
      host.command(command, id: 31)
    }
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts().first == "one")
  }

  @Test(arguments: [Int64.min, -1, 0, Int64.max]) func `times of any number`(time: Int64) {
    var host = Host.inRoom([Wire.message("one", "$1", time: Int(time))])
    host.sync(
      Wire.join([
        Wire.message("two", "$2", time: Int(time)),
        Wire.event(
          "org.matrix.msc3672.beacon_info", "$b", time: Int(time), #"{"live":true,"timeout":9007199254740991}"#,
          stateKey: "@alice:test")
      ]))
    #expect(host.texts().prefix(2) == ["one", "two"])
    host.wait(60_000)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts().prefix(2) == ["one", "two"])
  }

  // MARK: Depth

  @Test(arguments: [90, 400, 900, 999, 1_001, 100_000]) func `events in each other to any depth`(depth: Int) {
    var host = Host.inRoom()
    let deep = String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    let event = Wire.event("m.room.message", "$2", #"{"msgtype":"m.text","body":"two","deep":\#(deep)}"#)
    let custom = Wire.event("org.example", "$3", #"{"deep":\#(deep)}"#, stateKey: "")
    host.answer("/sync?", #"{"next_batch":"s9","rooms":{\#(Wire.join([event, custom]))}}"#)
    host.wait(40_000)
    host.sync(Wire.join([Wire.message("end", "$4")]))
    #expect(host.texts().contains("end"))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts().contains("end") && next.texts().first == "one")
  }

  // MARK: Secrets

  @Test func `nothing secret stands in a description`() {
    let session = Session(
      userID: UserID(trusted: "@me:test"), deviceID: DeviceID(trusted: "D"), accessToken: "secret-token",
      refreshToken: "secret-refresh", expiresAtMilliseconds: 1)
    var host = Host.signedIn()
    host.command(.session(.logOut))
    var signingIn = Host()
    signingIn.handle(.start)
    signingIn.handle(.command(.session(.logIn(user: "me", password: "secret")), id: 1))
    let requests = (host.waiting + signingIn.waiting).map { $0.request }
    #expect(requests.contains { "\($0)" == "POST /_matrix/client/v3/login" })
    let described =
      [
        "\(session)", "\(String(describing: Optional(session)))", "\(Login.password("secret", user: .user("me")))",
        "\(Login.token("secret"))", "\(Login.jwt("secret"))", "\(AuthenticationStage.password("secret", user: .user("me")))",
        "\(AuthenticationStage.registrationToken("secret"))"
      ] + requests.map { "\($0)" }
    for text in described { #expect(!text.contains("secret") && !text.contains("Bearer"), "\(text)") }
  }
}
