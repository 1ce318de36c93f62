import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct NotificationChangeTests {
  static let me = UserID(trusted: "@me:test")
  static let room = RoomID.test

  /// Carries out what the change takes, as the server would.
  static func apply(_ change: NotificationChange, to rules: inout PushRuleSet) throws {
    for step in try #require(change.steps(on: rules)) { rules = step.applied(to: rules) }
  }

  static func rules(_ text: String) -> PushRuleSet {
    PushRuleSet(ofServer: try! JSON.parse(Array(text.utf8)), for: me)
  }

  // MARK: Rooms

  @Test func `a room's mode is what was set last, from each to each`() throws {
    let modes: [NotificationMode?] = [nil, .allMessages, .mentionsAndKeywords, .mute]
    for from in modes {
      for to in modes {
        var rules = PushRuleSet(defaultsFor: Self.me)
        try Self.apply(.mode(Self.room, from), to: &rules)
        try Self.apply(.mode(Self.room, to), to: &rules)
        #expect(rules.mode(of: Self.room) == to)
        #expect(rules.ownRules(about: Self.room).count == (to == nil ? 0 : 1))
        #expect(rules.mode(of: RoomID(trusted: "!other:test")) == nil)
      }
    }
  }

  @Test(arguments: [
    (NotificationMode.allMessages, true, true), (.mentionsAndKeywords, false, true), (.mute, false, false)
  ]) func `a mode does what it says`(mode: NotificationMode, ofMessages: Bool, ofMentions: Bool) throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    try Self.apply(.mode(Self.room, mode), to: &rules)
    func notifies(_ content: String) throws -> Bool {
      let event = PushEvent(
        type: .message, stateKey: nil, sender: UserID(trusted: "@alice:test"), roomID: Self.room, eventID: nil,
        content: try JSON.parse(Array(content.utf8)), memberCount: 3, senderPowerLevel: 0, notificationLevels: nil)
      return PushEvaluator(event).actions(of: rules, displayName: "Me")?.notifies ?? false
    }
    #expect(try notifies(#"{"body":"x"}"#) == ofMessages)
    #expect(try notifies(#"{"body":"x","m.mentions":{"user_ids":["@me:test"]}}"#) == ofMentions)
  }

  @Test func `rules of other clients about a room are read and taken away`() throws {
    var rules = Self.rules(
      #"""
      {"global":{"override":[{"rule_id":"muted by another","enabled":true,"actions":["dont_notify"],
        "conditions":[{"kind":"event_match","key":"room_id","pattern":"!room:test"}]}],
        "room":[{"rule_id":"!room:test","enabled":false,"actions":["notify"]}]}}
      """#)
    #expect(rules.mode(of: Self.room) == .mute)
    try Self.apply(.mode(Self.room, .allMessages), to: &rules)
    // The rule that was off is on again.
    #expect(rules.mode(of: Self.room) == .allMessages)
    #expect(rules[.override].isEmpty)
  }

  @Test func `the new rule comes before the old one goes, and nothing goes out where nothing changes`() throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    try Self.apply(.mode(Self.room, .mute), to: &rules)
    #expect(NotificationChange.mode(Self.room, .mute).steps(on: rules)?.isEmpty == true)
    let steps = try #require(NotificationChange.mode(Self.room, .allMessages).steps(on: rules))
    guard steps.count == 2, case .put(.room, _, _, _) = steps[0], case .remove(.override, "!room:test") = steps[1] else {
      Issue.record("\(steps)")
      return
    }
  }

  // MARK: Defaults

  @Test(arguments: NotificationRoomKind.allCases) func `the default of each kind is set and read, for itself`(
    kind: NotificationRoomKind
  ) throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    #expect(rules.defaultMode(of: kind) == .allMessages)
    try Self.apply(.defaultMode(kind, .mentionsAndKeywords), to: &rules)
    for other in NotificationRoomKind.allCases {
      #expect(rules.defaultMode(of: other) == (other == kind ? .mentionsAndKeywords : .allMessages))
    }
    try Self.apply(.defaultMode(kind, .allMessages), to: &rules)
    #expect(rules.defaultMode(of: kind) == .allMessages)
    #expect(rules.rule(.underride, kind.ruleIDs[0])?.actions.sound == (kind.isOneToOne ? "default" : nil))
  }

  @Test func `a one-to-one rule that is off leaves its messages to that of groups`() throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    try rules.setEnabled(false, .underride, ".m.rule.room_one_to_one")
    #expect(rules.defaultMode(of: .oneToOne) == .allMessages)
    try Self.apply(.defaultMode(.oneToOne, .mentionsAndKeywords), to: &rules)
    #expect(rules.defaultMode(of: .oneToOne) == .mentionsAndKeywords)
    #expect(rules.rule(.underride, ".m.rule.room_one_to_one")?.isEnabled == true)
  }

  // MARK: Keywords

  @Test func `keywords come and go, with odd letters too`() throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    for word: ByteString in ["tea", "a/b", "a_b", ".dot", "tea"] { try Self.apply(.addKeyword(word), to: &rules) }
    #expect(Set(rules.keywords) == ["tea", "a/b", "a_b", ".dot"])
    #expect(rules.keywords.count == 4)
    for rule in rules[.content] where !rule.isDefault {
      #expect(!rule.ruleID.hasPrefix(".") && !rule.ruleID.string.contains("/"))
    }
    try Self.apply(.removeKeyword("a/b"), to: &rules)
    #expect(Set(rules.keywords) == ["tea", "a_b", ".dot"])
  }

  @Test func `a keyword of another client that is off comes on, and all rules of it go`() throws {
    var rules = Self.rules(
      #"""
      {"global":{"content":[{"rule_id":"1","pattern":"tea","enabled":false,"actions":[]},
        {"rule_id":"2","pattern":"tea","enabled":true,"actions":["notify"]},
        {"rule_id":".m.rule.contains_user_name","default":true,"pattern":"me","enabled":true,"actions":["notify"]}]}}
      """#)
    #expect(rules.keywords == ["tea"])
    try Self.apply(.addKeyword("tea"), to: &rules)
    #expect(rules.rule(.content, "1")?.actions.highlights == true)
    try Self.apply(.removeKeyword("tea"), to: &rules)
    #expect(rules[.content].map { $0.ruleID } == [".m.rule.contains_user_name"])
  }

  @Test func `no word, and one that is too long, is no keyword`() {
    let rules = PushRuleSet(defaultsFor: Self.me)
    #expect(NotificationChange.addKeyword("").steps(on: rules) == nil)
    let word = String(repeating: "a", count: Limits.keywordBytes)
    #expect(NotificationChange.addKeyword(ByteString(word)).steps(on: rules)?.count == 1)
    #expect(NotificationChange.addKeyword(ByteString(word + "a")).steps(on: rules) == nil)
  }

  // MARK: Subjects

  @Test(arguments: NotificationSubject.allCases) func `a subject is turned off and on`(subject: NotificationSubject) throws {
    var rules = PushRuleSet(defaultsFor: Self.me)
    #expect(rules.notifies(of: subject))
    try Self.apply(.subject(subject, isOn: false), to: &rules)
    for other in NotificationSubject.allCases { #expect(rules.notifies(of: other) == (other != subject)) }
    try Self.apply(.subject(subject, isOn: true), to: &rules)
    #expect(rules.notifies(of: subject))
  }

  @Test func `mentions are turned off in the rules of today and of before`() throws {
    var rules = Self.rules(VerdictTests.old)
    #expect(rules.notifies(of: .userMentions) && rules.notifies(of: .roomMentions))
    try Self.apply(.subject(.userMentions, isOn: false), to: &rules)
    #expect(!rules.notifies(of: .userMentions))
    #expect(rules.rule(.content, ".m.rule.contains_user_name")?.isEnabled == false)
    #expect(rules.notifies(of: .roomMentions))
  }
}

/// The rules of an account, as the server tells them and as one changes them.
@Suite struct PushRuleSyncTests {
  static func accountData(_ rules: PushRuleSet) -> String {
    let content = String(decoding: rules.content(), as: UTF8.self)
    return #","account_data":{"events":[{"type":"m.push_rules","content":\#(content)}]}"#
  }

  static var muted: PushRuleSet {
    var rules = PushRuleSet(defaultsFor: UserID(trusted: "@me:test"))
    for step in NotificationChange.mode(.test, .mute).steps(on: rules) ?? [] { rules = step.applied(to: rules) }
    return rules
  }

  @Test func `what another device changes is seen, and there after a restart`() {
    var host = Host.inRoom()
    #expect(host.client.notificationMode(of: .test) == .allMessages)
    host.changes = []
    host.sync(extra: Self.accountData(Self.muted))
    #expect(host.changes.contains { if case .pushRules = $0 { true } else { false } })
    #expect(host.client.notificationMode(of: .test) == .mute)
    let next = host.restarted()
    #expect(next.client.notificationMode(of: .test) == .mute)
    #expect(next.request("/pushrules/") == nil)
  }

  @Test func `a store without the rules asks for them once`() {
    let host = Host.inRoom()
    var next = host.restarted()
    next.answer("/pushrules/", String(decoding: Self.muted.content(), as: UTF8.self))
    #expect(next.client.notificationMode(of: .test) == .mute)
    #expect(next.restarted().request("/pushrules/") == nil)
  }

  @Test func `a change goes out step by step and holds at once`() {
    var host = Host.inRoom()
    host.sync(extra: Self.accountData(Self.muted))
    host.command(.account(.changeNotifications(.mode(.test, .mentionsAndKeywords))))
    #expect(host.request("/pushrules/")?.request.target == "/_matrix/client/v3/pushrules/global/room/%21room%3Atest")
    #expect(host.body("/pushrules/")?["actions"]?.count == 0)
    host.answer("/pushrules/", "{}")
    #expect(host.request("/pushrules/")?.request.method == .delete)
    #expect(host.result() == "nothing")
    host.answer("/pushrules/", "{}")
    #expect(host.result() == "done")
    #expect(host.client.pushRules.mode(of: .test) == .mentionsAndKeywords)
  }

  @Test func `a muting rule names the room in its condition`() {
    var host = Host.inRoom()
    host.command(.account(.changeNotifications(.mode(.test, .mute))))
    let body = host.body("/pushrules/global/override/")
    #expect(body?["conditions"]?.elements.map { $0["pattern"]?.string } == ["!room:test"])
  }

  @Test func `changes wait for each other and each counts on what the one before left`() {
    var host = Host.inRoom()
    host.command(.account(.changeNotifications(.mode(.test, .mute))), id: 21)
    host.command(.account(.changeNotifications(.mode(.test, nil))), id: 22)
    host.command(.account(.changeNotifications(.addKeyword("tea"))), id: 23)
    host.handle(.cancel(23))
    #expect(host.result(23) == "cancelled")
    #expect(host.waiting.filter { $0.request.target.contains("/pushrules/") }.count == 1)
    host.answer("/pushrules/", "{}")
    #expect(host.request("/pushrules/")?.request.method == .delete)
    host.answer("/pushrules/", "{}")
    #expect(host.result(21) == "done")
    #expect(host.result(22) == "done")
    #expect(host.client.pushRules.mode(of: .test) == nil)
    #expect(host.request("/pushrules/") == nil)
  }

  @Test func `a refusal ends the change and what is gone already is no failure`() {
    var host = Host.inRoom()
    host.sync(extra: Self.accountData(Self.muted))
    host.command(.account(.changeNotifications(.addKeyword("tea"))), id: 21)
    host.answer("/pushrules/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result(21).hasPrefix("refused"))
    #expect(host.client.pushRules.keywords.isEmpty)
    host.command(.account(.changeNotifications(.mode(.test, nil))), id: 22)
    host.answer("/pushrules/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"gone"}"#)
    #expect(host.result(22) == "done")
    #expect(host.client.pushRules.mode(of: .test) == nil)
    host.command(.account(.changeNotifications(.addKeyword(""))), id: 23)
    #expect(host.result(23) == "invalidContent")
  }

  @Test func `the end of the session ends changes that wait`() {
    var host = Host.inRoom()
    host.command(.account(.changeNotifications(.mode(.test, .mute))), id: 21)
    host.command(.account(.changeNotifications(.addKeyword("tea"))), id: 22)
    host.command(.session(.logOut), id: 23)
    #expect(host.result(21) == "notSignedIn")
    #expect(host.result(22) == "notSignedIn")
  }

  @Test func `one rule is put, changed, turned off and taken away`() throws {
    var host = Host.inRoom()
    let rule = PushRule(.sender, ruleID: "@bob:test", actions: .none)
    host.command(.account(.changeNotifications(.rule(.put(.sender, rule)))))
    host.answer("/pushrules/global/sender/%40bob%3Atest", "{}")
    #expect(host.client.pushRules.rule(.sender, "@bob:test") != nil)
    host.command(.account(.changeNotifications(.rule(.setActions(.sender, "@bob:test", .sounding)))))
    host.answer("/actions", "{}")
    host.command(.account(.changeNotifications(.rule(.setEnabled(.sender, "@bob:test", false)))))
    #expect(host.body("/enabled")?["enabled"]?.bool == false)
    host.answer("/enabled", "{}")
    let known = try #require(host.client.pushRules.rule(.sender, "@bob:test"))
    #expect(known.actions.sound == "default" && !known.isEnabled)
    host.command(.account(.changeNotifications(.rule(.remove(.sender, "@bob:test")))))
    host.answer("/pushrules/", "{}")
    #expect(host.client.pushRules.rule(.sender, "@bob:test") == nil)
  }

  private static func told(_ rules: String) -> String {
    #","account_data":{"events":[{"type":"m.push_rules","content":\#(rules)}]}"#
  }

  @Test func `rules of a sync that was under way while one was changed may be from before: the server is asked`() {
    let before = #"{"global":{"content":[{"rule_id":"tea","pattern":"tea","enabled":true,"actions":["notify"]}]}}"#
    var host = Host.inRoom()
    host.command(.account(.changeNotifications(.mode(.test, .mute))), id: 11)
    host.answer("/pushrules/global/override/", "{}")
    #expect(host.result(11) == "done")
    host.sync(extra: Self.told(before))
    #expect(host.client.pushRules.mode(of: .test) == .mute)
    #expect(host.store[StoreKey.data(.pushRules)] == nil)

    // The answer is older than the next change.
    host.command(.account(.changeNotifications(.mode(.test, nil))), id: 12)
    #expect(host.waiting.contains { $0.request.method == .delete && $0.request.target.contains("/pushrules/global/override/") })
    host.answer("/pushrules/global/override/", "{}")
    #expect(host.result(12) == "done")
    host.answer("/v3/pushrules/", before)
    #expect(host.client.pushRules.keywords.isEmpty)
    host.answer("/v3/pushrules/", before)
    #expect(host.client.pushRules.keywords == ["tea"])
    #expect(host.client.pushRules.mode(of: .test) == nil)
    #expect(host.store[StoreKey.data(.pushRules)] == Array(before.utf8))

    // One that was asked for afterwards is right.
    let after = #"{"global":{"content":[{"rule_id":"cake","pattern":"cake","enabled":true,"actions":["notify"]}]}}"#
    host.sync()
    host.sync(extra: Self.told(after))
    #expect(host.client.pushRules.keywords == ["cake"])
    #expect(host.request("/pushrules/") == nil)
  }
}
