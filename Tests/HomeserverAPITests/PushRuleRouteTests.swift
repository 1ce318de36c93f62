import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct PushRuleRouteTests {
  private static func ids(_ json: JSON?) -> [String] { json?.elements.compactMap { $0["rule_id"]?.string } ?? [] }

  @Test func `a new user has the default rules, everywhere the same`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let all = try await fixture.call(.get, "pushrules/", as: ann)
      let override = all.json["global"]?["override"]
      #expect(Self.ids(override).first == ".m.rule.master")
      #expect(Self.ids(override).count == 10)
      #expect(Self.ids(all.json["global"]?["underride"]).count == 5)
      let global = try await fixture.call(.get, "pushrules/global/", as: ann)
      #expect(all.json["global"]?.bytes.elementsEqual(global.json.bytes) == true)
      let data = try await fixture.call(.get, APIFixture.own(ann, "account_data/m.push_rules"), as: ann)
      #expect(data.json.bytes.elementsEqual(all.json.bytes))
      let mention = try await fixture.call(.get, "pushrules/global/override/.m.rule.is_user_mention", as: ann)
      #expect(mention.json["conditions"]?.elements.first { _ in true }?["value"]?.string == "@ann:example.org")
    }
  }

  @Test func `rules stand where they are put`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func put(_ id: String, _ query: String = "") async throws -> APIFixture.Answer {
        try await fixture.call(
          .put, "pushrules/global/content/\(id)\(query)", as: ann, #"{"pattern":"\#(id)","actions":["notify"]}"#)
      }
      func order() async throws -> [String] {
        Self.ids(try await fixture.call(.get, "pushrules/global/", as: ann).json["content"])
      }
      for id in ["c", "b", "a"] { #expect(try await put(id).status == 200) }
      #expect(try await order() == ["a", "b", "c"])
      #expect(try await put("d", "?after=a").status == 200)
      #expect(try await order() == ["a", "d", "b", "c"])
      #expect(try await put("d", "?before=c&after=a").status == 200)
      #expect(try await order() == ["a", "b", "d", "c"])
      #expect(try await put("b").status == 200)
      #expect(try await order() == ["a", "b", "d", "c"])
      #expect(try await put("x", "?before=nothing").errorCode == "M_NOT_FOUND")
      #expect(try await put("x", "?before=.m.rule.contains_user_name").errorCode == "M_INVALID_PARAM")
      #expect(try await fixture.call(.delete, "pushrules/global/content/b", as: ann).status == 200)
      #expect(try await fixture.call(.delete, "pushrules/global/content/b", as: ann).errorCode == "M_NOT_FOUND")
      #expect(try await order() == ["a", "d", "c"])
    }
  }

  @Test func `rules are enabled, disabled and given actions, the server's too`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let rule = "pushrules/global/underride/.m.rule.message"
      let start = fixture.homeserver.database.committedPosition
      let hasNews = fixture.watch(ann)
      #expect(try await fixture.call(.get, rule + "/enabled", as: ann).json["enabled"]?.bool == true)
      #expect(try await fixture.call(.put, rule + "/enabled", as: ann, #"{"enabled":false}"#).status == 200)
      #expect(try await fixture.call(.get, rule + "/enabled", as: ann).json["enabled"]?.bool == false)
      #expect(
        try await fixture.call(.put, rule + "/actions", as: ann, #"{"actions":["dont_notify","notify"]}"#).status == 200
      )
      let actions = try await fixture.call(.get, rule + "/actions", as: ann)
      #expect(actions.json["actions"]?.bytes.elementsEqual(#"["notify"]"#.utf8) == true)
      #expect(try await fixture.call(.delete, rule, as: ann).errorCode == "M_INVALID_PARAM")
      #expect(hasNews(start))
      let stored = try await fixture.homeserver.database.read { tx in
        try AccountData.changes(tx, of: ann.userID, after: start, upTo: .max).map(\.type)
      }
      #expect(stored == [.pushRules])
      let evaluated = try await fixture.homeserver.pushRules.rules(of: ann.userID)
      #expect(evaluated.rule(.underride, ".m.rule.message")?.isEnabled == false)
    }
  }

  @Test(arguments: [
    ("override/.mine", #"{"actions":[]}"#, "M_INVALID_PARAM"),
    ("override/a%5Cb", #"{"actions":[]}"#, "M_INVALID_PARAM"),
    ("override/a%2Fb", #"{"actions":[]}"#, "M_INVALID_PARAM"), ("strange/a", #"{"actions":[]}"#, "M_INVALID_PARAM"),
    ("override/a", "{}", "M_MISSING_PARAM"), ("content/a", #"{"actions":[]}"#, "M_MISSING_PARAM"),
    ("override/a", #"{"actions":[7]}"#, "M_BAD_JSON"), ("override/a", #"{"actions":["stir_up"]}"#, "M_INVALID_PARAM"),
    ("override/a", #"{"actions":[],"conditions":[{"kind":"event_match","key":"type"}]}"#, "M_INVALID_PARAM"),
    ("override/a", #"{"actions":[],"conditions":[{"kind":"room_member_count","is":"many"}]}"#, "M_INVALID_PARAM"),
    ("override/a", #"{"actions":[],"conditions":[7]}"#, "M_INVALID_PARAM"),
    ("override/a", #"{"actions":{}}"#, "M_BAD_JSON")
  ]) func `what is no rule is refused`(path: String, body: String, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.put, "pushrules/global/" + path, as: ann, body)
      #expect(answer.errorCode == code)
      #expect(answer.status == 400)
    }
  }

  @Test func `a rule that is not there has no properties`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for path in ["", "/enabled", "/actions"] {
        let answer = try await fixture.call(.get, "pushrules/global/room/%21r%3Ax" + path, as: ann)
        #expect(answer.status == 404)
        #expect(answer.errorCode == "M_NOT_FOUND")
      }
      let enabled = try await fixture.call(
        .put, "pushrules/global/room/%21r%3Ax/enabled", as: ann, #"{"enabled":true}"#)
      #expect(enabled.errorCode == "M_NOT_FOUND")
    }
  }

  @Test(arguments: [
    (255, 512, 100, 200), (256, 1, 1, 400), (1, 513, 1, 400), (1, 1, 101, 400)
  ]) func `IDs, patterns and conditions have their limits`(id: Int, pattern: Int, conditions: Int, status: Int)
    async throws
  {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func text(_ count: Int) -> String { String(repeating: "x", count: count) }
      let list = Array(repeating: #"{"kind":"contains_display_name"}"#, count: conditions).joined(separator: ",")
      let content = try await fixture.call(
        .put, "pushrules/global/content/\(text(id))", as: ann, #"{"pattern":"\#(text(pattern))","actions":[]}"#)
      let override = try await fixture.call(
        .put, "pushrules/global/override/\(text(id))", as: ann, #"{"conditions":[\#(list)],"actions":[]}"#)
      #expect(max(content.status, override.status) == status)
    }
  }
}
