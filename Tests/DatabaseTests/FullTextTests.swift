import Testing

@testable import Database

@Suite struct FullTextTests {
  private static let migration = Migration(version: 1, name: "text", statements: FullTextIndex.statements)

  private func database(_ texts: [(scope: Int64, text: String)], on engine: Engine) async throws -> (Folder, Database) {
    let folder = try Folder()
    let database = try folder.open(on: engine, [Self.migration])
    try await database.write { transaction in
      for (index, entry) in texts.enumerated() {
        try transaction.addFullText(entry.text, document: Int64(index + 1), scope: entry.scope)
      }
    }
    return (folder, database)
  }

  private func matches(
    _ database: Database, _ text: String, in scopes: [Int64]? = nil, below: Int64 = .max, isRanked: Bool = false,
    limit: Int = 100
  ) async throws -> [FullTextMatch] {
    try await database.read { transaction in
      var matches: [FullTextMatch] = []
      try transaction.fullTextMatches(
        FullTextQuery(text, in: scopes), below: below, limit: limit, isRanked: isRanked
      ) { match in
        matches.append(match)
        return true
      }
      return matches
    }
  }

  @Test(
    arguments: [
      ("hello", [1, 2]), ("HELLO", [1, 2]), ("hello world", [1]), ("hell", [1, 2]), ("hel", []), ("cafe", [3]),
      ("Café", [3]), ("日本", [4]), ("本語", [4]), ("日語", []), ("学", [4]), ("42", [5]), ("4", []), ("", []),
      ("!?", []), ("สวัสดี", [6])
    ] as [(String, [Int64])], Engine.present)
  func `words match without case and accents, longer ones as beginnings, unspaced scripts by any run`(
    _ search: (text: String, expected: [Int64]), engine: Engine
  ) async throws {
    let (folder, database) = try await database(
      [
        (1, "Hello, world"), (1, "hello there"), (1, "Un café noir"), (1, "日本語を学ぶ"), (1, "room 42"), (1, "สวัสดีครับ")
      ], on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    #expect(try await matches(database, search.text).map(\.document).sorted() == search.expected)
  }

  @Test(
    arguments: [
      ("1.19.2", [1]), ("v1.19.2", [1]), ("19.2", [1]), ("1.19", [1]), ("2.19.1", []), ("1 19 2", [1, 8]), ("1.19.20", []),
      ("10.0.0.1", [2]), ("10.0.0.2", []), ("8448", [2]), ("030-1234567", [3]), ("1234567", [3]), ("2026-11-28", [4]),
      ("28.11.2026", []), ("2026-11", [4]), ("10:30", [4]), ("some_long-name.txt", [5]), ("long-name", [5]), ("long_name", [5]),
      ("name-long", []), ("sha256", [6]), ("256", [6]), ("cdfa7f57e1", [7]), ("cdfa7f57", [7]), ("15", [6]), ("km", [6]),
      ("it's", [9]), ("1,000", [9]), ("don't", []), ("ann@example.org", [9]), ("release,today", [1])
    ] as [(String, [Int64])], Engine.present)
  func `numbers and names with signs in them match as they are written`(
    _ search: (text: String, expected: [Int64]), engine: Engine
  ) async throws {
    let (folder, database) = try await database(
      [
        (1, "v1.19.2 release, out today"), (1, "at https://10.0.0.1:8448/"), (1, "call 030-1234567"),
        (1, "since 2026-11-28T10:30:00Z"), (1, "some_long-name.txt"), (1, "SHA256 after 15km"),
        (1, "cdfa7f57e1b9d02a4c8e6f1a3b5c7d9e"), (1, "from 2 to 19, not 1"), (1, "it's 1,000 for ann@example.org")
      ], on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    #expect(try await matches(database, search.text).map(\.document).sorted() == search.expected)
  }

  @Test(arguments: [
    ("v1.19.2 release", ["v1.19.2", "release"]), ("(10.0.0.1), \"some_name\"", ["10.0.0.1", "some_name"]), ("...", []),
    ("end. Begin", ["end", "Begin"]), ("--data-dir", ["data-dir"]), ("a,b 1,000", ["a", "b", "1,000"]), ("日本1.2", ["日本", "1.2"])
  ])
  func `terms to highlight are as they are written`(text: String, terms: [String]) {
    #expect(FullTextQuery(text).terms == terms)
  }

  @Test(
    arguments: [
      "\"", "hello\" OR \"x", "body:hello", "hello*", "NOT hello", "hello AND", "(hello", "hello)", "^hello", "NEAR(hello x)",
      "{scope} : s1", "hello - x", "'; DROP TABLE full_text; --", "\u{0}hello", "hello + world", "hello' | '#1", "#1", "'#1'"
    ], Engine.present)
  func `no text breaks out of its quotes`(text: String, engine: Engine) async throws {
    let (folder, database) = try await database([(1, "hello world")], on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    _ = try await matches(database, text)
    #expect(try await matches(database, "hello").count == 1)
    #expect(try await matches(database, "s1").isEmpty)
  }

  @Test(arguments: Engine.present)
  func `a search stays in its scopes, below its bound, within its limit, newest first`(engine: Engine) async throws {
    let (folder, database) = try await database((0..<10).map { ($0 % 2, "word number \($0)") }, on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    #expect(try await matches(database, "word", in: [1]).map(\.document) == [10, 8, 6, 4, 2])
    #expect(try await matches(database, "word", in: [0, 1], limit: 3).map(\.scope) == [1, 0, 1])
    #expect(try await matches(database, "word", in: []).isEmpty)
    #expect(try await matches(database, "word", below: 4).map(\.document) == [3, 2, 1])
  }

  @Test(arguments: Engine.present)
  func `what says the word more often ranks higher`(engine: Engine) async throws {
    let (folder, database) = try await database(
      [
        (1, "swift is a bird among many other birds of the sky"), (1, "swift swift swift"), (1, "nothing of that kind")
      ], on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    let ranked = try await matches(database, "swift", isRanked: true).sorted { $0.rank > $1.rank }
    #expect(ranked.map(\.document) == [2, 1])
  }

  @Test(arguments: Engine.present)
  func `a document that changes or goes is found by what it is`(engine: Engine) async throws {
    let (folder, database) = try await database([(1, "old words"), (1, "more")], on: engine)
    defer { withExtendedLifetime(folder) { database.close() } }
    try await database.write { transaction in
      try transaction.replaceFullText("new words", document: 1, scope: 1)
      try transaction.removeFullText(document: 2)
      try transaction.removeFullText(document: 99)
    }
    #expect(try await matches(database, "old").isEmpty)
    #expect(try await matches(database, "new").map(\.document) == [1])
    #expect(try await matches(database, "more").isEmpty)
  }

  @Test func `terms beyond the limit are passed over`() {
    let text = (0..<40).map { "w\($0)" }.joined(separator: " ")
    #expect(FullTextQuery(text).terms.count == FullTextQuery.termsLimit)
    #expect(FullTextQuery("a b").terms == ["a", "b"])
  }
}
