import JSON
import MatrixModel
import Testing

private let alice = UserID(trusted: "@alice:a")
private let bob = UserID(trusted: "@bob:a")
private let carol = UserID(trusted: "@carol:a")

private func levels(_ content: String, creators: [UserID] = []) throws -> PowerLevels {
  PowerLevels(try JSON.parse(Array(content.utf8)), creators: creators)
}

@Suite struct PowerLevelsTests {
  @Test func `an empty event has the defaults`() throws {
    let levels = try levels("{}")
    #expect(levels.isFromEvent)
    #expect(levels.level(of: alice) == 0)
    #expect(levels.required(for: .message, isState: false) == 0)
    #expect(levels.required(for: .name, isState: true) == 50)
    #expect(PowerLevels.Property.allCases.map { levels.required($0) } == [50, 0, 0, 50, 50, 50, 0])
    #expect(PowerLevels.Property.allCases.allSatisfy { levels.explicit($0) == nil })
    #expect(levels.requiredForRoomNotification == 50)
  }

  @Test func `without the event the creator has 100`() {
    let levels = PowerLevels(creator: alice)
    #expect(!levels.isFromEvent)
    #expect(levels.level(of: alice) == 100)
    #expect(levels.level(of: bob) == 0)
    #expect(levels.required(for: .name, isState: true) == 50)
  }

  @Test func `privileged creators stand above every integer`() throws {
    for levels in [
      PowerLevels(creator: alice, creators: [alice, bob]),
      try levels(#"{"users":{"@alice:a":1},"ban":9007199254740991}"#, creators: [alice, bob])
    ] {
      #expect(levels.level(of: alice) == .creator && levels.level(of: bob).isCreator)
      #expect(levels.level(of: alice) > PowerLevel(9_007_199_254_740_991))
      #expect(levels.level(of: carol) == 0)
      #expect(levels.canBan(carol, by: alice))
      #expect(!levels.canKick(bob, by: alice))
      #expect(!levels.canSetLevel(of: bob, to: 0, by: alice))
    }
  }

  @Test func `what the event says counts`() throws {
    let levels = try levels(
      #"{"ban":1,"events_default":2,"invite":3,"kick":4,"redact":5,"state_default":6,"users_default":7,"events":{"m.room.name":8},"users":{"@alice:a":9},"notifications":{"room":10}}"#
    )
    #expect(PowerLevels.Property.allCases.map { levels.explicit($0) } == [1, 2, 3, 4, 5, 6, 7])
    #expect(levels.required(for: .name, isState: true) == 8)
    #expect(levels.required(for: .topic, isState: true) == 6)
    #expect(levels.required(for: .message, isState: false) == 2)
    #expect((levels.level(of: alice), levels.level(of: bob)) == (9, 7))
    #expect(levels.requiredForRoomNotification == 10)
    #expect(!levels.canNotifyRoom(by: alice))
  }

  @Test(arguments: [
    ("50", 50), ("-3", -3), (#""50""#, 50), (#"" +0007 ""#, 7), (#""-1""#, -1),
    ("9007199254740991", 9_007_199_254_740_991)
  ]) func `integers and their strings are levels`(value: String, level: Int64) throws {
    #expect(try levels(#"{"ban":\#(value)}"#).explicit(.ban) == level)
  }

  @Test(arguments: [
    "1.5", "null", "{}", #""""#, #""x""#, #""1.0""#, "9007199254740992", #""99999999999999999999""#, #""+""#
  ])
  func `other values are ignored`(value: String) throws {
    let levels = try levels(#"{"ban":\#(value),"users":{"@alice:a":\#(value)},"events":\#(value)}"#)
    #expect(levels.explicit(.ban) == nil)
    #expect(levels.users.isEmpty && levels.events.isEmpty)
  }

  @Test func `questions need the level, and power over the target`() throws {
    let levels = try levels(
      #"{"users":{"@alice:a":50,"@bob:a":49,"@carol:a":50},"invite":50,"redact":50,"events":{"m.room.redaction":10,"m.room.power_levels":50}}"#
    )
    let dave = UserID(trusted: "@dave:a")
    #expect(levels.canInvite(by: alice) && !levels.canInvite(by: bob))
    #expect(levels.canKick(bob, by: alice) && !levels.canKick(carol, by: alice) && !levels.canKick(dave, by: bob))
    #expect(levels.canBan(bob, by: alice) && !levels.canBan(carol, by: alice) && !levels.canBan(dave, by: bob))
    #expect(levels.canUnban(dave, by: alice) && !levels.canUnban(dave, by: bob))
    #expect(levels.canRedact(eventOf: alice, by: alice) && levels.canRedact(eventOf: bob, by: alice))
    #expect(levels.canRedact(eventOf: bob, by: bob) && !levels.canRedact(eventOf: alice, by: bob))
    #expect(!levels.canRedact(eventOf: dave, by: dave))
    #expect(levels.canSetLevel(of: bob, to: 50, by: alice) && !levels.canSetLevel(of: bob, to: 51, by: alice))
    #expect(levels.canSetLevel(of: alice, to: 0, by: alice) && !levels.canSetLevel(of: carol, to: 0, by: alice))
    #expect(!levels.canSetLevel(of: bob, to: 0, by: bob))
  }
}

@Suite struct JoinRuleTests {
  @Test(arguments: ["public", "invite", "knock", "restricted", "knock_restricted", "private"])
  func `names read and write`(name: String) throws {
    let rule = try #require(JoinRule(try JSON.parse(Array(#""\#(name)""#.utf8))))
    #expect("\(rule.name)" == name)
    #expect(rule.allowsKnocking == name.hasPrefix("knock"))
    #expect(rule.allowsRestrictedJoins == name.hasSuffix("restricted"))
  }

  @Test func `other names are no rule`() throws {
    #expect(JoinRule(try JSON.parse(Array(#""open""#.utf8))) == nil)
    #expect(JoinRule(nil) == nil)
  }
}
