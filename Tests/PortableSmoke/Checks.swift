import JSON
import MatrixModel

/// Prints one line for each check: `ok name` or `FAILED name`. `printed` is called after each line.
func runChecks(printed: () -> Void = {}) {
  for check in jsonChecks + modelChecks + callChecks + olmChecks + encryptionChecks + searchChecks {
    print(check.passes() ? "ok " : "FAILED ", terminator: "")
    print(check.name)
    printed()
  }
}

struct Check: Sendable {
  let name: StaticString
  let passes: @Sendable () -> Bool

  init(_ name: StaticString, _ passes: @escaping @Sendable () -> Bool) {
    self.name = name
    self.passes = passes
  }
}

private func parse(_ text: StaticString) -> JSON? {
  try? JSON.parse(text.withUTF8Buffer { Array($0) })
}

private func canonical(_ text: StaticString) -> String? {
  guard let bytes = try? parse(text)?.canonical() else { return nil }
  return String(decoding: bytes, as: UTF8.self)
}

private func isSame(_ text: String?, _ other: StaticString) -> Bool {
  guard let text else { return false }
  return ByteString(text) == other
}

private let jsonChecks = [
  Check("JSON: members and elements are found") {
    guard let value = parse(#"{"a":[1,{"b":"c"}],"d":true}"#) else { return false }
    var numbers: Int64 = 0
    for element in value["a"]?.elements ?? value.elements { numbers += element.integer ?? 0 }
    return numbers == 1 && value["d"]?.bool == true && value["e"] == nil
  },
  Check("JSON: integers keep 64 bits on a 32-bit machine") {
    parse("9007199254740991")?.integer == 9_007_199_254_740_991
      && parse("-9223372036854775808")?.integer == Int64.min && parse("9223372036854775808")?.integer == nil
  },
  Check("JSON: escapes and surrogate pairs become UTF-8") {
    guard let text = parse(#""\u00e9\ud83d\ude00\n""#)?.text else { return false }
    return text == "é😀\n"
  },
  Check("JSON: half a surrogate pair is refused") { parse(#""\ud800""#) == nil },
  Check("JSON: bytes after the value are refused") { parse("{} {}") == nil },
  Check("JSON: depth is limited") {
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 200_000)
    return (try? JSON.parse(deep)) == nil
  },
  Check("JSON: canonical form sorts keys by code point") {
    isSame(canonical(#"{ "b": 1, "a": {"本": 2, "日": 1} }"#), #"{"a":{"日":1,"本":2},"b":1}"#)
  },
  Check("JSON: fractions have no canonical form") { canonical(#"{"a":1.5}"#) == nil }
]

private let modelChecks = [
  Check("Model: a user ID is split at its first colon") {
    guard let user = UserID("@ann:example.org:8448") else { return false }
    return user.localpart == "ann" && user.serverName.text == "example.org:8448"
  },
  Check("Model: what is no user ID is refused") {
    UserID("ann:example.org") == nil && UserID("@ann") == nil && UserID("") == nil
  },
  Check("Model: identifiers compare as bytes, not as Unicode") {
    let composed = RoomID("!\u{E9}:example.org")
    let decomposed = RoomID("!e\u{301}:example.org")
    guard let composed, let decomposed else { return composed == nil && decomposed == nil }
    return !(composed == decomposed)
  }
]
