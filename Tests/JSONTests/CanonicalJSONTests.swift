import JSON
import Testing

@Suite struct CanonicalJSONTests {
  /// Appendices, "Canonical JSON", "Examples".
  static let examples: [(String, String)] = [
    ("{}", "{}"),
    ("{\n    \"one\": 1,\n    \"two\": \"Two\"\n}", #"{"one":1,"two":"Two"}"#),
    (#"{ "b": "2", "a": "1" }"#, #"{"a":"1","b":"2"}"#),
    (#"{"b":"2","a":"1"}"#, #"{"a":"1","b":"2"}"#),
    (
      #"{"auth":{"success":true,"mxid":"@john.doe:example.com","profile":{"display_name":"John Doe","three_pids":[{"medium":"email","address":"john.doe@example.org"},{"medium":"msisdn","address":"123456789"}]}}}"#,
      #"{"auth":{"mxid":"@john.doe:example.com","profile":{"display_name":"John Doe","three_pids":[{"address":"john.doe@example.org","medium":"email"},{"address":"123456789","medium":"msisdn"}]},"success":true}}"#
    ),
    (#"{ "a": "日本語" }"#, #"{"a":"日本語"}"#),
    (#"{ "本": 2, "日": 1 }"#, #"{"日":1,"本":2}"#),
    (#"{ "a": "\u65E5" }"#, #"{"a":"日"}"#),
    (#"{ "a": null }"#, #"{"a":null}"#),
    (#"{"a": -0, "b": 10}"#, #"{"a":0,"b":10}"#),
    (#"{"z":"\/\u0007\u000a\"\\","😀":1,"\uff5e":2}"#, #"{"z":"/\u0007\n\"\\","～":2,"😀":1}"#)
  ]

  @Test(arguments: examples) func `the spec's examples`(source: String, canonical: String) throws {
    #expect(String(decoding: try parse(source).canonical(), as: UTF8.self) == canonical)
  }

  @Test(arguments: [
    "1.5", "1e3", "1.0", "9007199254740992", "-9007199254740992", "99999999999999999999", #"{"b":1,"a":1,"b":2}"#,
    #"{"a":1,"\u0061":2}"#
  ])
  func `what has no canonical form is refused`(text: String) throws {
    let value = try parse(text)
    #expect(throws: JSONError.self) { try value.canonical() }
  }

  @Test(arguments: ["9007199254740991", "-9007199254740991"]) func `the range of integers is inclusive`(text: String) throws {
    #expect(String(decoding: try parse(text).canonical(), as: UTF8.self) == text)
  }

  @Test func `members are left out of the outermost object only`() throws {
    let value = try parse(#"{"unsigned":{},"signatures":1,"c":{"unsigned":2}}"#)
    #expect(
      String(decoding: try value.canonical(leavingOut: ["signatures", "unsigned"]), as: UTF8.self) == #"{"c":{"unsigned":2}}"#)
  }

  @Test func `ten thousand members in reverse order sort quickly and right`() throws {
    let keys = (0..<10_000).map { String($0 + 10_000) }
    let source = "{" + keys.reversed().map { "\"\($0)\":1" }.joined(separator: ",") + "}"
    #expect(
      String(decoding: try parse(source).canonical(), as: UTF8.self) == "{" + keys.map { "\"\($0)\":1" }.joined(separator: ",")
        + "}")
  }
}
