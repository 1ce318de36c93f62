import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// The same event and rules at the server, which knows the whole room, and at a client, which knows what syncs brought.
@Suite struct VerdictTests {
  /// A room, rules and an event, drawn from one seed.
  struct Vector {
    let name: String?
    let state: [String]
    let powerLevels: String?
    let version: String
    let memberCount: Int
    let rules: PushRuleSet
    let event: String
    let sender: String
  }

  static let me = UserID(trusted: "@me:test")

  static func json(_ text: String) -> JSON { try! JSON.parse(Array(text.utf8)) }

  // Proves B4
  @Test(arguments: 0..<500) func `server and client come to the same verdict`(seed: Int) throws {
    let vector = Self.vector(UInt64(seed))
    let event = Self.json(vector.event)
    let expected = try Self.serverVerdict(vector, event)
    var host = Host.signedIn()
    let rules = String(decoding: vector.rules.content(), as: UTF8.self)
    host.sync(
      Wire.join([], state: vector.state, extra: #","summary":{"m.joined_member_count":\#(vector.memberCount)}"#),
      extra: #","account_data":{"events":[{"type":"m.push_rules","content":\#(rules)}]}"#)
    let read = try #require(Event(event))
    #expect(host.client.pushActions(for: read, in: .test)?.json == expected?.json)
    // And with what the store kept of it.
    var next = host.restarted()
    next.command(.people(.loadMembers(.test)))
    #expect(next.client.pushActions(for: read, in: .test)?.json == expected?.json)
  }

  @Test func `vectors have all verdicts among them`() throws {
    var counts: [String: Int] = [:]
    for seed in 0..<500 {
      let vector = Self.vector(UInt64(seed))
      let actions = try Self.serverVerdict(vector, Self.json(vector.event))
      let key = actions.map { $0.highlights ? "highlight" : $0.sound != nil ? "sound" : $0.notifies ? "notify" : "silent" }
      counts[key ?? "none", default: 0] += 1
    }
    for key in ["highlight", "sound", "notify", "silent", "none"] { #expect(counts[key] ?? 0 >= 10, "\(key) of \(counts)") }
  }

  /// As `Homeserver.PushEvaluation` asks.
  static func serverVerdict(_ vector: Vector, _ json: JSON) throws -> PushActions? {
    let event = try #require(Event(json))
    let creators = vector.version == "12" ? [UserID(trusted: "@alice:test")] : []
    let content = vector.powerLevels.map { Self.json($0) }
    let levels =
      content.map { PowerLevels($0, creators: creators) }
      ?? PowerLevels(creator: UserID(trusted: "@alice:test"), creators: creators)
    let sender = try #require(event.sender)
    let evaluator = PushEvaluator(
      PushEvent(
        type: event.type, stateKey: event.stateKey, sender: sender, roomID: .test, eventID: event.eventID,
        content: event.content, memberCount: vector.memberCount, senderPowerLevel: levels.level(of: sender).value,
        notificationLevels: content?["notifications"]))
    return evaluator.actions(of: vector.rules, displayName: vector.name.map { ByteString($0) })
  }

  // MARK: Drawing

  static func vector(_ seed: UInt64) -> Vector {
    var random = RandomSource(seed: seed &+ 77)
    func pick<T>(_ choices: [T]) -> T { choices[Int(random.next(below: Int64(choices.count)))] }
    let name: String? = pick(["Me", "Tea time", "Möwe", nil])
    let version = pick(["10", "12"])
    let levels: String? = pick([
      nil, #"{"users":{"@alice:test":100},"notifications":{"room":20}}"#,
      #"{"users":{"@bob:test":49},"users_default":10}"#, #"{"users":{"@bob:test":50},"notifications":{"room":"60"}}"#,
      #"{"users_default":60,"notifications":{"room":-1}}"#
    ])
    let count = Int(random.next(below: 4)) + 1
    let sender = pick(["@alice:test", "@bob:test", "@bob:test", "@me:test"])
    var state = [
      Wire.event("m.room.create", "$c", #"{"room_version":"\#(version)"}"#, stateKey: ""),
      Wire.member("@me:test", name: name), Wire.member("@alice:test", name: "Alice"), Wire.member("@bob:test", name: "Bob")
    ]
    if let levels { state.append(Wire.event("m.room.power_levels", "$p", levels, stateKey: "")) }
    return Vector(
      name: name, state: state, powerLevels: levels, version: version, memberCount: count, rules: rules(&random),
      event: event(by: sender, &random), sender: sender)
  }

  static func rules(_ random: inout RandomSource) -> PushRuleSet {
    var rules = PushRuleSet(defaultsFor: me)
    func pick<T>(_ choices: [T]) -> T { choices[Int(random.next(below: Int64(choices.count)))] }
    for _ in 0..<random.next(below: 4) {
      let kind = pick(PushRuleKind.allCases)
      let actions = pick([PushActions.none, .notifying, .sounding, .highlighting])
      let conditions = pick([
        #"[{"kind":"event_match","key":"content.body","pattern":"tea*"}]"#,
        #"[{"kind":"event_match","key":"room_id","pattern":"!room:test"}]"#, #"[{"kind":"contains_display_name"}]"#,
        #"[{"kind":"room_member_count","is":">2"}]"#, #"[{"kind":"sender_notification_permission","key":"room"}]"#,
        #"[{"kind":"org.example.unknown"}]"#
      ])
      let id: ByteString =
        switch kind {
        case .room: "!room:test"
        case .sender: pick(["@bob:test", "@alice:test"])
        default: ByteString("own\(random.next(below: 9))")
        }
      let rule = PushRule(
        kind, ruleID: id, actions: actions,
        conditions: kind == .override || kind == .underride ? json(conditions).elements.compactMap { PushCondition($0) } : [],
        pattern: kind == .content ? pick(["tea", "t?a", "*time*"]) : nil)
      try? rules.put(rule, kind)
    }
    if random.next(below: 5) == 0 {
      try? rules.setEnabled(false, .override, pick([".m.rule.is_user_mention", ".m.rule.suppress_notices"]))
    }
    if random.next(below: 20) == 0 { try? rules.setEnabled(true, .override, ".m.rule.master") }
    return rules
  }

  static func event(by sender: String, _ random: inout RandomSource) -> String {
    func pick<T>(_ choices: [T]) -> T { choices[Int(random.next(below: Int64(choices.count)))] }
    let body = pick(["hello", "tea time", "Me, look", "Teatime with Möwe", "nothing"])
    let mentions = pick([
      "", #","m.mentions":{"user_ids":["@me:test"]}"#, #","m.mentions":{"room":true}"#, #","m.mentions":{}"#
    ])
    return pick([
      Wire.event("m.room.message", "$1", by: sender, #"{"msgtype":"m.text","body":"\#(body)"\#(mentions)}"#),
      Wire.event("m.room.message", "$1", by: sender, #"{"msgtype":"m.text","body":"\#(body)"\#(mentions)}"#),
      Wire.event("m.room.message", "$1", by: sender, #"{"msgtype":"m.notice","body":"\#(body)"\#(mentions)}"#),
      Wire.event(
        "m.room.message", "$1", by: sender,
        #"{"body":"\#(body)","m.relates_to":{"rel_type":"m.replace","event_id":"$0"}}"#),
      Wire.event("m.room.encrypted", "$1", by: sender, #"{"algorithm":"m.megolm.v1.aes-sha2"}"#),
      Wire.event("m.reaction", "$1", by: sender, #"{"m.relates_to":{"rel_type":"m.annotation"}}"#),
      Wire.event("m.room.tombstone", "$1", by: sender, "{}", stateKey: ""),
      Wire.event("m.room.topic", "$1", by: sender, #"{"topic":"\#(body)"}"#, stateKey: ""),
      Wire.event("m.room.member", "$1", by: sender, #"{"membership":"join"}"#, stateKey: sender),
      Wire.event("m.call.invite", "$1", by: sender, "{}")
    ])
  }

  // MARK: Rules from before v1.7

  static let old = #"""
    {"global":{"override":[
      {"rule_id":".m.rule.master","default":true,"enabled":false,"actions":[],"conditions":[]},
      {"rule_id":".m.rule.contains_display_name","default":true,"enabled":true,
        "actions":["notify",{"set_tweak":"highlight"}],"conditions":[{"kind":"contains_display_name"}]},
      {"rule_id":".m.rule.roomnotif","default":true,"enabled":true,"actions":["notify",{"set_tweak":"highlight"}],
        "conditions":[{"kind":"event_match","key":"content.body","pattern":"@room"},
        {"kind":"sender_notification_permission","key":"room"}]}],
      "content":[{"rule_id":".m.rule.contains_user_name","default":true,"enabled":true,"pattern":"me",
        "actions":["notify",{"set_tweak":"highlight"}]}],
      "underride":[{"rule_id":".m.rule.message","default":true,"enabled":true,"actions":["notify"],
        "conditions":[{"kind":"event_match","key":"type","pattern":"m.room.message"}]}]}}
    """#

  @Test(arguments: [
    (#"{"body":"Greta, look"}"#, true), (#"{"body":"me too"}"#, true), (#"{"body":"@room all"}"#, true),
    // An event with `m.mentions` mentions nobody else.
    (#"{"body":"Greta, look","m.mentions":{}}"#, false), (#"{"body":"me too","m.mentions":{}}"#, false),
    (#"{"body":"@room all","m.mentions":{"user_ids":[]}}"#, false), (#"{"body":"hello"}"#, false)
  ]) func `old mention rules apply only to events without mentions`(content: String, isHighlight: Bool) throws {
    let rules = PushRuleSet(ofServer: Self.json(Self.old), for: Self.me)
    let event = PushEvent(
      type: .message, stateKey: nil, sender: UserID(trusted: "@alice:test"), roomID: .test, eventID: nil,
      content: Self.json(content), memberCount: 3, senderPowerLevel: 50, notificationLevels: nil)
    let actions = try #require(PushEvaluator(event).actions(of: rules, displayName: "Greta"))
    #expect(actions.notifies)
    #expect(actions.highlights == isHighlight)
  }
}
