import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct PowerTests {
  static let me = UserID(trusted: "@me:test")
  static let alice = UserID(trusted: "@alice:test")
  static let bob = UserID(trusted: "@bob:test")

  static func room(_ levels: String, version: String = "11", creator: String = "@alice:test", state: [String] = []) -> Host {
    let create = Wire.event("m.room.create", "$c", by: creator, #"{"room_version":"\#(version)"}"#, stateKey: "")
    let power = Wire.event("m.room.power_levels", "$p", by: creator, levels, stateKey: "")
    var host = Host.signedIn()
    host.sync(Wire.join(state: Wire.members + [create, power] + state, extra: Wire.counts))
    return host
  }

  // Spec: `m.room.power_levels` and its defaults; "Authorization rules".
  static let table: [(String, RoomAction, Bool)] = [
    ("{}", .invite, true),
    (#"{"invite":1}"#, .invite, false),
    (#"{"invite":1,"users":{"@me:test":1}}"#, .invite, true),
    (#"{"users":{"@me:test":50}}"#, .kick(bob), true),
    (#"{"users":{"@me:test":49}}"#, .kick(bob), false),
    (#"{"users":{"@me:test":50,"@bob:test":50}}"#, .kick(bob), false),
    (#"{"kick":0,"users":{"@me:test":1}}"#, .kick(bob), true),
    (#"{"users":{"@me:test":50}}"#, .ban(bob), true),
    (#"{"ban":51,"users":{"@me:test":50}}"#, .ban(bob), false),
    ("{}", .redactOwn, true),
    (#"{"events":{"m.room.redaction":1}}"#, .redactOwn, false),
    (#"{"users":{"@me:test":49}}"#, .redactOthers, false),
    (#"{"users":{"@me:test":50}}"#, .redactOthers, true),
    ("{}", .send(.message), true),
    (#"{"events_default":1}"#, .send(.message), false),
    (#"{"events":{"m.room.message":1}}"#, .send(.message), false),
    (#"{"events":{"m.room.message":1}}"#, .send(.reaction), true),
    ("{}", .sendState(.name), false),
    (#"{"state_default":0}"#, .sendState(.name), true),
    (#"{"state_default":0}"#, .sendState(.create), false),
    (#"{"events":{"m.room.name":0}}"#, .setName, true),
    (#"{"events":{"m.room.name":0}}"#, .setTopic, false),
    (#"{"events":{"m.room.avatar":0}}"#, .setAvatar, true),
    (#"{"events":{"m.room.pinned_events":0}}"#, .pin, true),
    ("{}", .pin, false),
    (#"{"events":{"m.room.tombstone":0}}"#, .upgrade, true),
    (#"{"users":{"@me:test":49}}"#, .notifyRoom, false),
    (#"{"users":{"@me:test":50}}"#, .notifyRoom, true),
    (#"{"notifications":{"room":0}}"#, .notifyRoom, true),
    (#"{"users":{"@me:test":50}}"#, .setPowerLevel(of: bob, to: 50), true),
    (#"{"users":{"@me:test":50}}"#, .setPowerLevel(of: bob, to: 51), false),
    (#"{"users":{"@me:test":50}}"#, .setPowerLevel(of: bob, to: -1), true),
    (#"{"users":{"@me:test":49}}"#, .setPowerLevel(of: bob, to: -1), false),
    (#"{"users":{"@me:test":-1}}"#, .send(.message), false),
    (#"{"users":{"@me:test":50,"@bob:test":50}}"#, .setPowerLevel(of: bob, to: 0), false),
    (#"{"users":{"@me:test":50}}"#, .setPowerLevel(of: me, to: 0), true)
  ]

  @Test(arguments: table) func `the power levels say what a user may do`(
    levels: String, action: RoomAction, expected: Bool
  ) {
    #expect(Self.room(levels).client.can(action, in: .test) == expected)
  }

  @Test func `a creator may do all from version 12 on, and nobody takes that away`() {
    let own = Self.room(#"{"users":{"@bob:test":100}}"#, version: "12", creator: "@me:test")
    #expect(own.client.can(.kick(Self.bob), in: .test) == true)
    #expect(own.client.can(.setPowerLevel(of: Self.bob, to: 100), in: .test) == true)
    #expect(own.client.can(.setPowerLevel(of: Self.me, to: 0), in: .test) == false)
    let foreign = Self.room(#"{"users":{"@me:test":100}}"#, version: "12")
    #expect(foreign.client.can(.kick(Self.alice), in: .test) == false)
    #expect(foreign.client.can(.setPowerLevel(of: Self.alice, to: 0), in: .test) == false)
    let levels = foreign.client.room(.test)?.powerLevels
    #expect(levels?.role(of: Self.alice) == .creator)
    #expect(levels?.role(of: Self.me) == .administrator)
  }

  @Test func `who is not in the room is not removed, who is not banned not let in again`() {
    let banned = Wire.event("m.room.member", "$b", #"{"membership":"ban"}"#, stateKey: "@bob:test")
    let host = Self.room(#"{"users":{"@me:test":100}}"#, state: [banned])
    #expect(host.client.can(.kick(Self.bob), in: .test) == false)
    #expect(host.client.can(.unban(Self.bob), in: .test) == true)
    #expect(host.client.can(.unban(Self.alice), in: .test) == false)
    #expect(host.client.can(.invite, in: RoomID(trusted: "!none:test")) == nil)
  }

  static let roles: [(Int64, RoomRole)] = [
    (.min, .muted), (-1, .muted), (0, .user), (49, .user), (50, .moderator), (99, .moderator), (100, .administrator)
  ]

  @Test(arguments: roles) func `a level has the name of the role below it`(level: Int64, role: RoomRole) {
    #expect(RoomRole(PowerLevel(level)) == role)
  }

  @Test func `a level is set with everything else as it was, also what this client does not know`() {
    var host = Self.room(#"{"users":{"@me:test":100}}"#)
    host.command(.people(.setPowerLevel(.test, of: Self.bob, to: 50)))
    host.answer(
      "/state/m.room.power_levels", #"{"users":{"@me:test":100,"@x:test":1},"ban":60,"org.example":{"a":[1]}}"#)
    let body = host.body("/state/m.room.power_levels")
    #expect(body?["users"]?["@bob:test"]?.integer == 50)
    #expect(body?["users"]?["@x:test"]?.integer == 1)
    #expect(body?["ban"]?.integer == 60)
    #expect(body?["org.example"]?["a"]?.count == 1)
    host.answer("/state/m.room.power_levels", #"{"event_id":"$new"}"#)
    #expect(host.result() == "done")
    host.command(.people(.setPowerLevel(.test, of: Self.bob, to: nil)))
    host.answer("/state/m.room.power_levels", #"{"users":{"@me:test":100,"@bob:test":50}}"#)
    #expect(host.body("/state/m.room.power_levels")?["users"]?.count == 1)
  }

  static let subjects: [(PowerSubject, String)] = [
    (.property(.eventsDefault), #"{"users":{"@me:test":100},"events":{"m.x":1},"events_default":50}"#),
    (.event(.name, isState: true), #"{"users":{"@me:test":100},"events":{"m.x":1,"m.room.name":50}}"#),
    (.notifyRoom, #"{"users":{"@me:test":100},"events":{"m.x":1},"notifications":{"room":50}}"#)
  ]

  @Test(arguments: subjects) func `the level for something is set where the event has it`(subject: PowerSubject, body: String) {
    var host = Self.room(#"{"users":{"@me:test":100}}"#)
    host.command(.people(.setRequiredLevel(.test, subject, to: 50)))
    host.answer("/state/m.room.power_levels", #"{"users":{"@me:test":100},"events":{"m.x":1}}"#)
    #expect(host.body("/state/m.room.power_levels").map { String(decoding: $0.bytes, as: UTF8.self) } == body)
  }

  @Test func `a user neither gives nor removes a level above their own`() {
    var host = Self.room(#"{"users":{"@me:test":50},"events":{"m.room.power_levels":50,"m.room.name":60}}"#)
    for (subject, level) in [(PowerSubject.property(.invite), Int64(51)), (.event(.name, isState: true), 0)] {
      host.command(.people(.setRequiredLevel(.test, subject, to: level)))
      #expect(host.result() == "notAllowed")
    }
    #expect(host.request("/state/m.room.power_levels") == nil)
  }

  @Test func `a level one may not set is not asked for`() {
    var host = Self.room("{}")
    host.command(.people(.setPowerLevel(.test, of: Self.bob, to: 50)))
    #expect(host.result() == "notAllowed")
    #expect(host.request("/state/m.room.power_levels") == nil)
  }

  @Test func `the settings of a room are known, also after a restart`() {
    let state = [
      Wire.event(
        "m.room.join_rules", "$j",
        #"{"join_rule":"restricted","allow":[{"type":"m.room_membership","room_id":"!space:test"}]}"#, stateKey: ""),
      Wire.event("m.room.history_visibility", "$h", #"{"history_visibility":"world_readable"}"#, stateKey: ""),
      Wire.event("m.room.guest_access", "$g", #"{"guest_access":"can_join"}"#, stateKey: ""),
      Wire.event("m.room.canonical_alias", "$a", ##"{"alias":"#a:test","alt_aliases":["#b:test"]}"##, stateKey: ""),
      Wire.event("martlet.slow_mode", "$s", #"{"interval_ms":30000}"#, stateKey: ""),
      Wire.event("martlet.mention_groups", "$m", #"{"groups":{"design":["@a:test","@b:test"],"none":[]}}"#, stateKey: "")
    ]
    let host = Self.room("{}", state: state)
    for host in [host, host.restarted()] {
      let room = host.client.room(.test)
      #expect(room?.joinRule == .restricted)
      #expect(room?.allowedRooms == [RoomID(trusted: "!space:test")])
      #expect(room?.historyVisibility == .worldReadable)
      #expect(room?.allowsGuests == true)
      #expect(room?.alternativeAliases == [RoomAlias(trusted: "#b:test")])
      #expect(room?.version == "11")
      #expect(room?.slowModeMilliseconds == 30_000)
      #expect(room?.groups.map { $0.name } == ["design", "none"])
      #expect(room?.groups.first?.users == [UserID(trusted: "@a:test"), UserID(trusted: "@b:test")])
    }
    #expect(Self.room("{}").client.room(.test)?.historyVisibility == .shared)
  }

  // Proves P7
  @Test("groups that nobody could call, and what is beyond the limits, are passed over, whatever the room says")
  func groups() {
    let names = ["a b", "", "Room", "here", "MODERATORS", "x:y", "@x", "#x", String(repeating: "n", count: 33), "größe_2"]
    let users = (0..<210).map { "\"@u\($0):test\"" }.joined(separator: ",")
    let many = (0..<60).map { "\"g\($0)\":[]" }.joined(separator: ",")
    let content = "{\"groups\":{" + names.map { "\"\($0)\":[\(users),7,\"x\"]" }.joined(separator: ",") + "," + many + "}}"
    let groups = Self.room("{}", state: [Wire.event("martlet.mention_groups", "$m", content, stateKey: "")]).client.room(.test)?
      .groups
    #expect(groups?.count == RoomGroup.groupsLimit)
    #expect(groups?.first?.name == "größe_2" && groups?.first?.users.count == RoomGroup.usersLimit)
    for content in ["{}", #"{"groups":7}"#, #"{"groups":["x"]}"#, #"{"groups":{"x y":"z"}}"#] {
      let state = [Wire.event("martlet.mention_groups", "$m", content, stateKey: "")]
      #expect(Self.room("{}", state: state).client.room(.test)?.groups.isEmpty == true)
    }
  }

  @Test(
    "the time between two messages is zero to six hours, whatever the room says",
    arguments: [
      ("{}", 0), (#"{"interval_ms":-5}"#, 0), (#"{"interval_ms":"x"}"#, 0), (#"{"interval_ms":99999999999}"#, 21_600_000)
    ])
  func slowMode(_ content: String, _ time: Int64) {
    let state = [Wire.event("martlet.slow_mode", "$s", content, stateKey: "")]
    #expect(Self.room("{}", state: state).client.room(.test)?.slowModeMilliseconds == time)
  }
}
