import JSON
import MatrixModel
import Testing

@testable import Homeserver

/// Changes of push rules in one batch, on rules that are in memory.
@Suite struct PushRuleChangeTests {
  private struct Undone: Error {}

  private static let ann = RoomsFixture.user("ann")

  private static func rule(_ id: String) throws -> PushRule {
    PushRule(.room, ruleID: ByteString(id), actions: try #require(PushActions(json(#"["notify"]"#))))
  }

  /// The user's own rules of rooms, as they are in memory and as they are in their row.
  private func rooms(_ fixture: SyncFixture) async throws -> (known: Set<String>, stored: Set<String>) {
    let known = try await fixture.pushRules.rules(of: Self.ann)[.room].map(\.ruleID.string)
    let stored = try await fixture.accountData.content(of: .pushRules, Self.ann, in: nil)
    let rules = PushRuleSet(try JSON.parse(stored), for: Self.ann)[.room].map(\.ruleID.string)
    return (Set(known), Set(rules))
  }

  @Test func `changes of one batch see each other`() async throws {
    let fixture = try SyncFixture()
    let names = (0..<100).map { "!r\($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        let rule = try Self.rule(name)
        group.addTask { try await fixture.pushRules.change(Self.ann) { try $0.put(rule, .room) } }
      }
      try await group.waitForAll()
    }
    #expect(try await rooms(fixture) == (Set(names), Set(names)))
    let again = try fixture.reopened()
    #expect(try await rooms(again) == (Set(names), Set(names)))
  }

  @Test func `what a command did that failed is undone, in memory as well`() async throws {
    let fixture = try SyncFixture()
    let (first, second, third) = (try Self.rule("!first"), try Self.rule("!second"), try Self.rule("!third"))
    try await fixture.pushRules.change(Self.ann) { try $0.put(first, .room) }
    await #expect(throws: Undone.self) {
      try await fixture.database.write { tx in
        try fixture.pushRules.change(Self.ann, in: tx) { try $0.put(second, .room) }
        throw Undone()
      }
    }
    #expect(try await rooms(fixture) == (["!first"], ["!first"]))
    try await fixture.pushRules.change(Self.ann) { try $0.put(third, .room) }
    #expect(try await rooms(fixture) == (["!first", "!third"], ["!first", "!third"]))
  }
}
