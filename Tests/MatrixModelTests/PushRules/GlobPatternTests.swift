import JSON
import MatrixModel
import Testing
import TimeTesting

@Suite struct GlobPatternTests {
  /// From the spec's text on `event_match`, and around it.
  @Test(arguments: [
    ("lunc?*", "Lunch plans", true), ("lunc?*", "LUNCH", true), ("lunc?*", " lunch", false), ("lunc?*", "lunc", false),
    ("", "", true), ("", "a", false), ("*", "", true), ("*", "anything", true), ("a*c", "abcbc", true),
    ("a*c", "abcb", false),
    ("a*b*c", "a-c-b-c", true), ("a*b*c", "a-c-b", false), ("**a", "bba", true), ("?", "é", true), ("??", "é", false),
    ("a?c", "aéc", true), ("*é", "caf\u{e9}", true), ("a", "A", true), ("é", "É", false), ("a.c", "abc", false),
    ("*ab", "aab", true), ("ab*ab", "ab", false), ("ab*ab", "abab", true), ("*?", "", false), ("*?", "é", true)
  ]) func `a pattern matches all of a text or does not`(pattern: String, text: String, matches: Bool) {
    #expect(GlobPattern(ByteString(pattern)).matches(ByteString(text)) == matches)
  }

  @Test(arguments: [
    ("ex*ple", "An example event.", true), ("ex*ple", "exple", true), ("ex*ple", "An exciting triple-whammy", true),
    ("ex*ple", "An exciting tripled", false), ("ex*ple", "text ample", false), ("cake", "pancake", false),
    ("cake", "a CAKE!", true),
    ("cake", "cakes cake", true), ("cake", "cake_walk", false), ("c?ke", "a cåke.", true),
    ("cake*lie", "The cake is a lie", true),
    ("cake*lie", "The cake is a lied", false), ("cake*lie", "pancake is a lie", false), ("@room", "hi @room now", true),
    ("@room", "mail@room", true), ("@room", "@rooms", false), ("c++", "I like c++", true), ("a*", "b ab", true),
    ("*a", "b ba c", true),
    ("", "any", true), ("é", "caf\u{e9}s", true), ("a b", "xa b", false), ("a b", "a bx", false),
    ("b*d", "abc bcd", true)
  ]) func `a pattern matches between word boundaries`(pattern: String, text: String, matches: Bool) {
    #expect(GlobPattern(ByteString(pattern)).matchesWords(in: ByteString(text)) == matches)
  }

  @Test func `hostile patterns take time in proportion`() {
    let text = ByteString(String(repeating: "a ", count: 30_000))
    let elapsed = processorTime {
      #expect(GlobPattern("a*a*a*a*a*a*a*a*a*b").matchesWords(in: text) == false)
      #expect(GlobPattern("*a?a?a?a?a?a?a?a?b*").matchesWords(in: text) == false)
    }
    // Backtracking would take longer than the universe has been there.
    #expect(elapsed < .seconds(30))
  }

  @Test func `a pattern is given up after so many steps`() {
    let text = { (count: Int) in ByteString(String(repeating: "a", count: count) + "b") }
    let pattern = GlobPattern(ByteString("*" + String(repeating: "a", count: 400) + "b"))
    #expect(pattern.matches(text(1_000)))
    #expect(pattern.matchesWords(in: text(1_000)))
    #expect(!pattern.matches(text(10_000)))
    #expect(!pattern.matchesWords(in: text(10_000)))
    // What people write is found at the end of the longest body an event can have.
    let body = ByteString(String(repeating: "The quick brown fox. ", count: 3_100) + "Hello, world!")
    for words in ["world", "hello, w*d", "*fox. hello*", "he?lo"] {
      #expect(GlobPattern(ByteString(words)).matchesWords(in: body), "\(words)")
    }
  }

  @Test func `a literal has no wildcards`() {
    #expect(GlobPattern(literal: "a*b").matchesWords(in: "say a*b"))
    #expect(!GlobPattern(literal: "a*b").matchesWords(in: "say axb"))
  }
}

@Suite struct PropertyPathTests {
  @Test(arguments: [
    ("content.body", ["content", "body"]), (#"content.m\.relates_to"#, ["content", "m.relates_to"]),
    (#"content.m\\foo"#, ["content", #"m\foo"#]), (#"content.\x"#, ["content", #"\x"#]), ("a..b", ["a", "", "b"]),
    (#"a\"#, [#"a\"#]), ("", [""])
  ]) func `a path is split at its dots`(path: String, names: [String]) {
    #expect(PropertyPath(ByteString(path)).names == names.map { ByteString($0) })
  }
}
