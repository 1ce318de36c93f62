import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct StateChangeTests {
  private static func state(
    _ type: String, _ content: String, before: String? = nil, key: String = "", by sender: String = "@alice:test"
  ) -> String {
    // An ID of its own for each.
    let hash = (type + content + (before ?? "") + key + sender).utf8.reduce(UInt64(5_381)) { $0 &* 33 &+ UInt64($1) }
    return Wire.event(
      type, "$\(hash)", by: sender, content, stateKey: key, unsigned: before.map { #"{"prev_content":\#($0)}"# })
  }

  private static func member(_ now: String, _ before: String?, by sender: String, _ extra: String = "") -> String {
    state(
      "m.room.member", #"{"membership":"\#(now)"\#(extra)}"#, before: before.map { #"{"membership":"\#($0)"}"# },
      key: "@bob:test", by: sender)
  }

  /// One of each, as a server writes it.
  static let events: [String] =
    [
      state("m.room.create", #"{"room_version":"11","predecessor":{"room_id":"!old:test"}}"#),
      member("join", nil, by: "@bob:test"), member("leave", "join", by: "@bob:test", #","reason":"late""#),
      member("leave", "join", by: "@alice:test", #","reason":"spam""#), member("invite", nil, by: "@alice:test"),
      member("leave", "invite", by: "@bob:test"), member("leave", "invite", by: "@alice:test"),
      member("ban", "join", by: "@alice:test", #","reason":"again""#), member("leave", "ban", by: "@alice:test"),
      member("knock", nil, by: "@bob:test", #","reason":"please""#), member("invite", "knock", by: "@alice:test"),
      member("leave", "knock", by: "@alice:test"), member("leave", "knock", by: "@bob:test"),
      state(
        "m.room.member", #"{"membership":"join","displayname":"Robert"}"#,
        before: #"{"membership":"join","displayname":"Bob"}"#, key: "@bob:test", by: "@bob:test"),
      state(
        "m.room.member", #"{"membership":"join"}"#, before: #"{"membership":"join","displayname":"Bob"}"#,
        key: "@bob:test", by: "@bob:test"),
      state(
        "m.room.member", #"{"membership":"join","avatar_url":"mxc://test/a"}"#, before: #"{"membership":"join"}"#,
        key: "@bob:test", by: "@bob:test")
    ] + roomEvents

  private static let roomEvents: [String] =
    [
      state("m.room.name", #"{"name":"New"}"#), state("m.room.name", "{}"), state("m.room.topic", #"{"topic":"Talk"}"#),
      state("m.room.avatar", #"{"url":"mxc://test/a"}"#), state("m.room.canonical_alias", ##"{"alias":"#a:test"}"##),
      state(
        "m.room.canonical_alias", ##"{"alias":"#a:test","alt_aliases":["#b:test"]}"##, before: ##"{"alias":"#a:test"}"##),
      state("m.room.encryption", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#)
    ]
    + ["public", "knock", "restricted", "invite"].map {
      state("m.room.join_rules", #"{"join_rule":"\#($0)"}"#, before: #"{"join_rule":"x"}"#)
    }
    + ["world_readable", "shared", "invited", "joined", "odd"].map {
      state("m.room.history_visibility", #"{"history_visibility":"\#($0)"}"#, before: "{}")
    } + [
      state("m.room.guest_access", #"{"guest_access":"can_join"}"#, before: "{}"),
      state("m.room.guest_access", #"{"guest_access":"forbidden"}"#, before: "{}"),
      state(
        "m.room.power_levels", #"{"users":{"@bob:test":50,"@me:test":100},"ban":60}"#,
        before: #"{"users":{"@bob:test":0,"@me:test":100,"@eve:test":10}}"#),
      state("m.room.power_levels", #"{"events":{"m.room.name":50}}"#, before: #"{"events":{}}"#),
      state("m.room.pinned_events", #"{"pinned":["$1"]}"#), state("m.room.pinned_events", "{}", before: #"{"pinned":["$1"]}"#),
      state("m.room.pinned_events", #"{"pinned":["$2","$3"]}"#, before: #"{"pinned":["$1"]}"#),
      state("m.room.server_acl", #"{"allow":["*"]}"#, before: "{}"),
      state("m.room.tombstone", #"{"body":"moved","replacement_room":"!next:test"}"#),
      state("m.room.third_party_invite", #"{"display_name":"A friend"}"#, key: "token"),
      state("m.room.third_party_invite", "{}", before: #"{"display_name":"A friend"}"#, key: "token"),
      state("m.space.child", #"{"via":["test"]}"#, key: "!child:test"), state("m.space.child", "{}", key: "!child:test"),
      state("m.space.parent", #"{"via":["test"]}"#, key: "!parent:test"), state("m.space.parent", "{}", key: "!parent:test"),
      state(
        "m.policy.rule.user", #"{"entity":"@spam*:test","recommendation":"m.ban","reason":"spam"}"#, key: "rule:@spam"),
      state("m.policy.rule.server", "{}", key: "rule:x"), state("org.example.state", #"{"a":1}"#, key: "k")
    ]

  @Test func `power levels tell who changed from what to what`() {
    let event = Self.state(
      "m.room.power_levels",
      #"{"users":{"@bob:test":50},"events":{"m.room.name":"70"},"kick":1,"notifications":{"room":20},"users_default":0}"#,
      before: #"{"users":{"@eve:test":100,"no user":4},"events":{},"users_default":0}"#)
    guard case .state(.powerLevelsChanged(let changes))? = Host.inRoom([event]).items().first?.content else {
      return #expect(Bool(false))
    }
    let seen = changes.map { "\($0.subject) \($0.from.map { "\($0)" } ?? "-") \($0.to.map { "\($0)" } ?? "-")" }
    #expect(
      seen == [
        "user(@bob:test) - 50", "user(@eve:test) 100 -", "property(kick) - 1", "event(m.room.name) - 70",
        "notification(room) - 20"
      ])
  }

  @Test func `of very many changed levels the first are told`() {
    let users = (0..<200).map { #""@u\#($0):test":50"# }.joined(separator: ",")
    let event = Self.state("m.room.power_levels", #"{"users":{\#(users)}}"#, before: "{}")
    guard case .state(.powerLevelsChanged(let changes))? = Host.inRoom([event]).items().first?.content else {
      return #expect(Bool(false))
    }
    #expect(changes.count == ContentLimits.powerChanges)
  }

  // Proves C73
  @Test func `who is called otherwise now cannot have been somebody else, and no words break or turn the line`() {
    let name = #"\u202eAl\u2067\nice"#
    let join = #""membership":"join","displayname":"#
    let texts = Host.inRoom([
      Self.state(
        "m.room.member", #"{\#(join)"Mal\u202elory"}"#, before: #"{\#(join)"\#(name)"}"#, key: "@bob:test", by: "@bob:test"),
      // Nothing that can be seen is another.
      Self.state("m.room.member", #"{\#(join)"Bob"}"#, before: #"{\#(join)"Bob\u202e"}"#, key: "@bob:test", by: "@bob:test"),
      Self.member("leave", "join", by: "@bob:test", #","reason":"\#(name)""#),
      Self.member("ban", "join", by: "@alice:test", #","reason":"\#(name)""#),
      Self.state("m.room.name", #"{"name":"\#(name)"}"#), Self.state("m.room.topic", #"{"topic":"\#(name)"}"#),
      Self.state("m.room.third_party_invite", #"{"display_name":"\#(name)"}"#, key: "token")
    ]).items().compactMap { item -> String? in
      guard case .state(let change) = item.content else { return nil }
      return change.english(sender: "Alice") { $0.string }
    }
    #expect(
      texts == [
        "Al ice (@bob:test) is now called Mallory", "@bob:test left: Al ice", "Alice banned @bob:test: Al ice",
        "Alice named the room “Al ice”", "Alice set the topic: Al ice", "Alice invited Al ice"
      ])
  }

  @Test func `a redacted state event keeps who came and went, and nothing that was said`() {
    var host = Host.inRoom([
      Self.member("leave", "join", by: "@alice:test", #","reason":"spam""#), Self.state("m.room.name", #"{"name":"Rude"}"#)
    ])
    let ids = host.items().map { $0.eventID?.string ?? "" }
    #expect(host.texts()[0].contains("spam"))
    host.sync(Wire.join(ids.enumerated().map { TimelineTests.redaction(of: $1, "$x\($0)") }))
    #expect(host.texts() == ["(kicked(@bob:test, reason: nil))", "[redacted]"])
  }
}
