import JSON
import MatrixModel
import Testing
import TimeTesting

@Suite struct PushEvaluatorTests {
  static let me = UserID(trusted: "@me:example.org")

  static func json(_ text: String) -> JSON { try! JSON.parse(Array(text.utf8)) }

  static func event(
    _ type: EventType = .message, _ content: String = #"{"msgtype":"m.text","body":"hello"}"#,
    stateKey: ByteString? = nil,
    sender: String = "@you:example.org", members: Int = 3, level: Int64 = 0, notifications: String? = nil
  ) -> PushEvent {
    PushEvent(
      type: type, stateKey: stateKey, sender: UserID(trusted: ByteString(sender)),
      roomID: RoomID(trusted: "!room:example.org"),
      eventID: EventID(trusted: "$event"), content: json(content), memberCount: members, senderPowerLevel: level,
      notificationLevels: notifications.map { json($0) })
  }

  static func actions(_ event: PushEvent, _ rules: PushRuleSet = PushRuleSet(defaultsFor: me), name: ByteString? = nil)
    -> String?
  {
    PushEvaluator(event).actions(of: rules, displayName: name).map { String(decoding: $0.json, as: UTF8.self) }
  }

  static let sound = #"["notify",{"set_tweak":"sound","value":"default"}]"#
  static let highlight = #"["notify",{"set_tweak":"highlight"}]"#
  static let mention = #"["notify",{"set_tweak":"sound","value":"default"},{"set_tweak":"highlight"}]"#

  @Test(arguments: [
    (event(), #"["notify"]"#),
    (event(members: 2), sound),
    (event(.encrypted, "{}"), #"["notify"]"#),
    (event(.encrypted, "{}", members: 2), sound),
    (event("m.call.invite", "{}"), #"["notify",{"set_tweak":"sound","value":"ring"}]"#),
    (event(.message, #"{"msgtype":"m.notice","body":"x"}"#), "[]"),
    (event(.member, #"{"membership":"invite"}"#, stateKey: "@me:example.org"), sound),
    (event(.member, #"{"membership":"invite"}"#, stateKey: "@else:example.org"), "[]"),
    (event(.member, #"{"membership":"join"}"#, stateKey: "@me:example.org"), "[]"),
    (event(.message, #"{"body":"x","m.mentions":{"user_ids":["@a:b","@me:example.org"]}}"#), mention),
    (event(.message, #"{"body":"x","m.mentions":{"user_ids":["@a:b"]}}"#), #"["notify"]"#),
    (event(.message, #"{"body":"x","m.mentions":{"room":true}}"#, level: 50), highlight),
    (event(.message, #"{"body":"x","m.mentions":{"room":true}}"#, level: 49), #"["notify"]"#),
    (
      event(.message, #"{"body":"x","m.mentions":{"room":true}}"#, level: 10, notifications: #"{"room":10}"#), highlight
    ),
    (event(.message, #"{"body":"x","m.mentions":{"room":"true"}}"#, level: 50), #"["notify"]"#),
    (event(.tombstone, "{}", stateKey: ""), highlight),
    (event(.reaction, "{}"), "[]"),
    (event(.serverACL, "{}", stateKey: ""), "[]"),
    (event(.message, #"{"body":"x","m.relates_to":{"rel_type":"m.replace"}}"#), "[]")
  ]) func `the default rules do what the spec says`(event: PushEvent, actions: String) {
    #expect(Self.actions(event) == actions)
  }

  @Test(arguments: [event(.topic, "{}", stateKey: ""), event(.tombstone, "{}"), event(sender: "@me:example.org")])
  func `events without a rule, and the user's own, are silent`(event: PushEvent) {
    #expect(Self.actions(event) == nil)
  }

  @Test func `the master rule turns everything off`() throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    try rules.setEnabled(true, .override, ".m.rule.master")
    let actions = PushEvaluator(Self.event(members: 2)).actions(of: rules, displayName: nil)
    #expect(actions?.notifies == false)
  }

  @Test func `the first rule by kind and place decides`() throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    func rule(
      _ kind: PushRuleKind, _ id: ByteString, _ sound: String, conditions: String = "[]", pattern: ByteString? = nil
    ) throws {
      let actions = try #require(PushActions(Self.json(#"["notify",{"set_tweak":"sound","value":"\#(sound)"}]"#)))
      try rules.put(
        PushRule(
          kind, ruleID: id, actions: actions,
          conditions: Self.json(conditions).elements.compactMap { PushCondition($0) }, pattern: pattern),
        kind)
    }
    func heard() -> String? { PushEvaluator(Self.event()).actions(of: rules, displayName: nil)?.sound?.string }
    #expect(heard() == nil)
    try rule(.underride, "u", "underride")
    #expect(heard() == "underride")
    try rule(.sender, "@you:example.org", "sender")
    #expect(heard() == "sender")
    try rule(.room, "!room:example.org", "room")
    #expect(heard() == "room")
    try rule(.content, "c", "content", pattern: "HELL?")
    #expect(heard() == "content")
    try rule(.override, "o", "override", conditions: #"[{"kind":"room_member_count","is":">2"}]"#)
    #expect(heard() == "override")
    try rules.setEnabled(false, .override, "o")
    #expect(heard() == "content")
  }

  @Test(arguments: [
    (#"{"kind":"room_member_count","is":"3"}"#, true), (#"{"kind":"room_member_count","is":"==3"}"#, true),
    (#"{"kind":"room_member_count","is":"<3"}"#, false), (#"{"kind":"room_member_count","is":"<=3"}"#, true),
    (#"{"kind":"room_member_count","is":">3"}"#, false), (#"{"kind":"room_member_count","is":">=3"}"#, true),
    (#"{"kind":"room_member_count","is":"=3"}"#, false), (#"{"kind":"room_member_count","is":"3x"}"#, false),
    (#"{"kind":"room_member_count","is":""}"#, false), (#"{"kind":"room_member_count"}"#, false),
    (#"{"kind":"unknown"}"#, false), (#"{"kind":"contains_display_name"}"#, true),
    (#"{"kind":"event_match","key":"content.body","pattern":"hello"}"#, true),
    (#"{"kind":"event_match","key":"type","pattern":"M.room.*"}"#, true),
    (#"{"kind":"event_match","key":"room_id","pattern":"!room:example.org"}"#, true),
    (#"{"kind":"event_match","key":"sender","pattern":"@you:*"}"#, true),
    (#"{"kind":"event_match","key":"state_key","pattern":"*"}"#, false),
    (#"{"kind":"event_match","key":"content.n","pattern":"*"}"#, false),
    (#"{"kind":"event_match","key":"content.none","pattern":"*"}"#, false),
    (#"{"kind":"event_match","key":"content.topic","pattern":"hello"}"#, false),
    (#"{"kind":"event_property_is","key":"content.n","value":7}"#, true),
    (#"{"kind":"event_property_is","key":"content.n","value":"7"}"#, false),
    (#"{"kind":"event_property_is","key":"content.t","value":true}"#, true),
    (#"{"kind":"event_property_is","key":"content.t","value":1}"#, false),
    (#"{"kind":"event_property_is","key":"content.nothing","value":null}"#, true),
    (#"{"kind":"event_property_is","key":"content.none","value":null}"#, false),
    (#"{"kind":"event_property_is","key":"content.list","value":"a"}"#, false),
    (#"{"kind":"event_property_is","key":"type","value":"m.room.message"}"#, true),
    (#"{"kind":"event_property_is","key":"content.body","value":"Hello you"}"#, true),
    (#"{"kind":"event_property_is","key":"content.body","value":"hello you"}"#, false),
    (#"{"kind":"event_property_contains","key":"content.list","value":"a"}"#, true),
    (#"{"kind":"event_property_contains","key":"content.list","value":1}"#, true),
    (#"{"kind":"event_property_contains","key":"content.list","value":"1"}"#, false),
    (#"{"kind":"event_property_contains","key":"content.list","value":null}"#, true),
    (#"{"kind":"event_property_contains","key":"content.body","value":"Hello you"}"#, false),
    (#"{"kind":"sender_notification_permission","key":"room"}"#, false),
    (#"{"kind":"sender_notification_permission","key":"low"}"#, true)
  ]) func `a condition holds or does not`(condition: String, holds: Bool) throws {
    let event = Self.event(
      .message, #"{"body":"Hello you","topic":"Hello you","n":7,"t":true,"nothing":null,"list":["a",1,null,[2]]}"#,
      level: 10,
      notifications: #"{"low":10}"#)
    var rules = PushRuleSet(defaultsFor: Self.me)
    let actions = try #require(PushActions(Self.json(#"["notify",{"set_tweak":"sound","value":"x"}]"#)))
    let parsed = try #require(PushCondition(Self.json(condition)))
    try rules.put(PushRule(.override, ruleID: "r", actions: actions, conditions: [parsed]), .override)
    #expect((PushEvaluator(event).actions(of: rules, displayName: "you")?.sound == "x") == holds)
  }

  @Test func `a hundred readers of one event cost a microsecond or so each`() {
    let readers = (0..<100).map { PushRuleSet(defaultsFor: UserID(trusted: ByteString("@user\($0):example.org"))) }
    var notified = 0
    let elapsed = processorTime {
      for _ in 0..<20 {
        let evaluator = PushEvaluator(Self.event())
        for rules in readers where evaluator.actions(of: rules, displayName: nil)?.notifies == true { notified += 1 }
      }
    }
    #expect(notified == 2_000)
    // Without optimization; a release build takes a twentieth.
    #expect(elapsed / 2_000 < .milliseconds(1))
  }
}

@Suite struct PushRuleSetTests {
  @Test func `stored rules come back, defaults brought up to date`() throws {
    let me = PushEvaluatorTests.me
    let stored = PushEvaluatorTests.json(
      #"""
      {"global":{"override":[{"rule_id":".m.rule.master","enabled":true,"actions":["notify"]},{"rule_id":".m.rule.gone","actions":[]},
      {"rule_id":"mine","enabled":false,"actions":["notify"],"conditions":[{"kind":"future","x":1}]},{"rule_id":"broken"}],
      "content":[{"rule_id":"word","actions":["coalesce"],"pattern":"cake"}]}}
      """#)
    let rules = PushRuleSet(stored, for: me)
    #expect(rules.rule(.override, ".m.rule.master")?.isEnabled == true)
    #expect(rules.rule(.override, ".m.rule.gone") == nil)
    #expect(rules.rule(.override, ".m.rule.tombstone") != nil)
    #expect(rules[.override].map(\.ruleID).prefix(2) == [".m.rule.master", "mine"])
    #expect(rules.rule(.content, "word")?.actions.notifies == false)
    let again = PushRuleSet(try JSON.parse(rules.content()), for: me)
    #expect(again.content() == rules.content())
    #expect(String(decoding: rules.content(), as: UTF8.self).contains(#"{"kind":"future","x":1}"#))
  }

  @Test func `a kind has at most a thousand rules`() throws {
    var rules = PushRuleSet(defaultsFor: PushEvaluatorTests.me)
    func put(_ number: Int) throws {
      try rules.put(PushRule(.room, ruleID: ByteString("!\(number):x"), actions: .none), .room)
    }
    for number in 0..<PushRuleSet.rulesLimit { try put(number) }
    #expect(throws: PushRuleSet.ChangeError.tooMany) { try put(-1) }
    try put(0)
    #expect(rules[.room].count == PushRuleSet.rulesLimit)
  }
}
