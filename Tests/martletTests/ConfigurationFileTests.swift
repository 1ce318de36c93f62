import FilesTesting
import Testing

@testable import martlet

@Suite("Configuration file")
struct ConfigurationFileTests {
  private func entries(_ text: String) throws -> [ConfigurationFile.Entry] {
    try ConfigurationFile(Array(text.utf8), path: "m.yaml").entries
  }

  @Test("Words, lists and nesting are read with their lines")
  func reading() throws {
    #expect(
      try entries("a: one\nb:\n  - x\n  - \"y z\"\nc:\n  d: 5\n  e: {f: [ ]}\n") == [
        .init(name: "a", values: ["one"], line: 1), .init(name: "b", values: ["x", "y z"], line: 2),
        .init(name: "c.d", values: ["5"], line: 6), .init(name: "c.e.f", values: [], line: 7)
      ])
  }

  @Test("A file without settings is fine", arguments: ["", "# nothing\n", "---\n", "{}\n", "---\n...\n"])
  func empty(text: String) throws {
    #expect(try entries(text).isEmpty)
  }

  @Test(
    "What is no settings file is refused with the line",
    arguments: [
      ("a: [1, 2\nb: 3\n", 2), ("- a\n", 1), ("a\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a: &x 1\nb: *x\n", 1),
      ("a: !!str 1\n", 1),
      ("\na: \n", 2), ("a: ~\n", 1), ("a: [[1]]\n", 1), ("a: [{b: 1}]\n", 1), ("? [a]\n: 1\n", 1),
      ("a: 1\n\tb: 2\n", 2),
      ("a: 'open\n", 2), ("a: 1\na.b: *x\n", 2), ("a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}\n", 1)
    ])
  func malformed(text: String, line: Int) {
    do {
      let entries = try entries(text)
      Issue.record("accepted: \(entries)")
    } catch let error as ConfigurationError {
      guard case .malformed("m.yaml", let problem, _) = error, problem.line == line else {
        Issue.record("\(error)")
        return
      }
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(
    "A mistake in the layout is told with its column and what was expected",
    arguments: [
      ("a: 1\n\tb: 2\n", "line 2, column 1: a tab cannot indent a line; use spaces"),
      ("log:\n  \tlevel: info\n", "line 2, column 3: a tab cannot indent"),
      (
        "log:\n  level: info\n   format: text\n", "line 3, column 10: indented by 3 spaces, but line 2, which has a value, by 2"
      ),
      (
        "log:\n  level: info\n format: text\n",
        "line 3, column 2: indented by 1 space, expected 2 as in line 2 or 0 as in line 1"
      ),
      ("a: b: c\n", "line 1, column 5: only one name and value can stand in a line"),
      ("a:1\nb: 2\n", "line 1, column 1: the file must contain settings, each as name: value with a space behind the colon"),
      ("log:\n  level:info\n  format: text\n", "line 2 needs a colon and a space behind its name, as in name: value"),
      ("a: @b:example.org\n", "line 1, column 4: a value cannot begin with @; put the value into quotes"),
      ("a: [1, 2\nb: 3\n", "the list that begins in line 1, column 4 needs a comma"),
      ("a: {b: 1\nc: 3\n", "the mapping that begins in line 1, column 4 needs a comma"),
      ("a: 'open\n", "the text in quotes that begins in line 1, column 4 does not end"),
      ("log:\nlevel: info\n", "line 1, column 5: log is a group of settings: indent its settings below it, each by two spaces"),
      ("a: &x 1\n", "line 1, column 4: anchors and tags are not supported")
    ])
  func layout(text: String, message: String) {
    let told = #expect(throws: ConfigurationError.self) { try entries(text) }?.description ?? ""
    #expect(told.contains(message), "\(told)")
  }

  @Test("A mistake is shown with the two lines above and below it")
  func excerpt() {
    let file = "a: 1\nb: 2\nc: 3\n\td: 4\ne: 5\n# end\nf: 6\n"
    let told = #expect(throws: ConfigurationError.self) { try entries(file) }?.description ?? ""
    #expect(told.hasSuffix("\n  2 | b: 2\n  3 | c: 3\n> 4 | →d: 4\n  5 | e: 5\n  6 | # end"), "\(told)")
  }

  @Test(
    "The lines around a mistake show no secret",
    arguments: [
      "registration_shared_secret: hunter2\n\tx: 1\n", "\tx: 1\nmail:\n  password: 'hunter2'\n",
      "registration_tokens:\n- hunter2\n\tx: 1\n", "\tx: 1\nregistration_tokens: [\nhunter2]\n",
      "jwt: {secret: hunter2, x\n", "gifs:\n  \"key\" : hunter2\n\tx: 1\n", "PASSWORD hunter2\n\tx: 1\n",
      "jwt:\n  secret: |\n    hunter2: b\n\tx: 1\n"
    ])
  func secrets(text: String) {
    let told = #expect(throws: ConfigurationError.self) { try entries(text) }?.description ?? ""
    #expect(!told.isEmpty && !told.contains("hunter2"), "\(told)")
  }

  @Test("Eight levels are still allowed")
  func depth() throws {
    #expect(try entries("a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}\n").map(\.name) == ["a.a.a.a.a.a.a.a"])
  }

  @Test(
    "A setting that comes twice is refused",
    arguments: ["a: 1\na: 2\n", "a:\n  b: 1\na.b: 2\n", "a:\n  b: 1\na:\n  b: 2\n"])
  func repeated(text: String) {
    do {
      _ = try entries(text)
      Issue.record("accepted")
    } catch let error as ConfigurationError {
      guard case .repeated = error else {
        Issue.record("\(error)")
        return
      }
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A text in quotes may look like null or be empty")
  func quoted() throws {
    #expect(
      try entries("a: \"\"\nb: 'null'\nc: |\n  two\n  lines\n").map(\.values) == [[""], ["null"], ["two\nlines\n"]])
  }

  @Test("Invalid UTF-8 and every truncation are refused or read, never a crash")
  func hostile() {
    let text = Array("a: [\"x\\u0041\", 'y']\nb: {c: |-\n  d}\n".utf8)
    for count in 0...text.count {
      _ = try? ConfigurationFile(Array(text[..<count]), path: "m.yaml")
      _ = try? ConfigurationFile(Array(text[..<count]) + [0xFF, 0], path: "m.yaml")
    }
    #expect(throws: ConfigurationError.self) { try ConfigurationFile([0x61, 0x3A, 0x20, 0xFF, 0xFE], path: "m.yaml") }
  }

  @Test("A file at the size limit is read, one byte more is not")
  func size() throws {
    let comment = String(repeating: "#", count: ConfigurationFile.byteLimit - 1) + "\n"
    #expect(try withTemporaryFile(comment) { try ConfigurationFile(path: $0).entries }.isEmpty)
    #expect(throws: ConfigurationError.self) {
      try withTemporaryFile(comment + "\n") { try ConfigurationFile(path: $0) }
    }
  }
}
